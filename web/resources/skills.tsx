import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play, RefreshCw, Sparkles } from "lucide-react";
import type { AgentVariant, UnavailableRepository } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

/** Reads all skills, also malformed ones. `refresh` reads the repositories again instead of earlier results. */
async function readSkills(refresh: boolean, signal?: AbortSignal) {
  const skills: { readonly name: string; readonly variant: AgentVariant }[] = [];
  const first = await client.agents.list({ include_malformed_skills: true, refresh }, { ...(signal && { signal }) });
  for await (const { name, variants } of first) skills.push(...variants.map((variant) => ({ name, variant })));
  return { skills, unavailable: first.body.unavailable ?? [] };
}

const skillsQuery = queryOptions({
  queryKey: ["skills", "all"],
  queryFn: ({ signal }) => readSkills(false, signal),
});

export function Skills() {
  const query = useQuery(skillsQuery);
  const refresh = useMutation({
    mutationFn: () => readSkills(true),
    onSuccess: (read) => queryClient.setQueryData(skillsQuery.queryKey, read),
  });
  return (
    <section className="card" aria-label="Skills">
      <div className="card-head">
        <h2>Skills</h2>
        <Button
          small
          icon={<RefreshCw size={14} aria-hidden />}
          busy={refresh.isPending}
          onClick={() => refresh.mutate()}
        >
          Read again
        </Button>
      </div>
      <InlineError error={refresh.error} />
      <Loaded query={query} rows={2}>
        {({ skills, unavailable }) =>
          skills.length + unavailable.length === 0 ? (
            <Empty icon={<Sparkles size={26} aria-hidden />} title="No skills">
              <p>
                A skill is a file of instructions in a repository of an environment, such as
                .agents/skills/review/SKILL.md.
              </p>
            </Empty>
          ) : (
            <ul className="item-list">
              {skills.map(({ name, variant }) => (
                <SkillRow key={variant.id} name={name} variant={variant} />
              ))}
              {unavailable.map((repository) => (
                <UnavailableRow key={`${repository.owner}/${repository.name}`} repository={repository} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function SkillRow({ name, variant }: { readonly name: string; readonly variant: AgentVariant }) {
  const { id, description, environments, error, last_run_timestamp: lastRun } = variant;
  const [environment] = environments;
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title">{revealHidden(name)}</span>
        {description !== "" && <p className="item-facts">{revealHidden(description)}</p>}
        <p className="item-facts">
          <code>{revealHidden(id)}</code>
          {environments.map((one) => (
            <span key={one.uid}>{revealHidden(one.name)}</span>
          ))}
        </p>
        {error !== undefined && <p className="field-error">{revealHidden(error)}</p>}
      </div>
      {lastRun !== undefined && (
        <span className="faint">
          {lastRun === null ? (
            "Not run yet"
          ) : (
            <>
              Last run <Time at={lastRun} />
            </>
          )}
        </span>
      )}
      {error === undefined && (
        <Link
          to="/runs/new"
          search={{ skill: id, ...(environment && { environment: environment.uid }) }}
          className="button button-plain button-small"
          aria-label={`Start a run with ${revealHidden(name)}`}
        >
          <Play size={14} aria-hidden />
          <span>Start a run</span>
        </Link>
      )}
    </li>
  );
}

const UnavailableRow = ({ repository }: { readonly repository: UnavailableRepository }) => (
  <li className="item">
    <div className="item-main">
      <span className="item-title">{revealHidden(`${repository.owner}/${repository.name}`)}</span>
      <p className="field-error">{revealHidden(repository.error)}</p>
    </div>
    <span className="badge tone-bad">Not read</span>
  </li>
);
