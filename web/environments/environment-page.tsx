import "../styles/run.css";
import "../styles/text.css";
import "../styles/environments.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { FlaskConical, Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { queryClient, refreshQueries } from "../api/query-client.ts";
import { useMe } from "../api/session.ts";
import { HealthCard } from "../health/run-health.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page, useTitle } from "../ui/page.tsx";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { EnvironmentEditor } from "./environment-editor.tsx";
import { EnvironmentFacts } from "./environment-facts.tsx";
import { environmentQuery } from "./environment-queries.ts";
import { SetupState } from "./setup-state.tsx";
import { Sharing } from "./sharing.tsx";

const route = getRouteApi("/shell/environments/$environmentUid");

export function EnvironmentPage() {
  const { environmentUid } = route.useParams();
  const query = useQuery(environmentQuery(environmentUid));
  useTitle(revealHidden(query.data?.config.name ?? "Environment"));
  return <Loaded query={query}>{(environment) => <LoadedEnvironment environment={environment} />}</Loaded>;
}

interface EnvironmentProps {
  readonly environment: EnvironmentItem;
}

function LoadedEnvironment({ environment }: EnvironmentProps) {
  const { config, last_updated, scope, setup_failed } = environment;
  const me = useMe();
  const team = me.teams.find(({ uid }) => uid === scope.uid);
  const isOwn = team !== undefined || scope.uid === me.uid;
  const viewers = team === undefined ? (isOwn ? "You" : "You, because it was shared with you") : team.name;
  const { name, description, setup_commands: commands } = config;
  return (
    <Page
      title={revealHidden(name)}
      lead={
        <>
          <Link to="/environments">Environments</Link> ·{" "}
          {description !== undefined && `${revealHidden(description)} · `}
          Updated <Time at={last_updated} />
        </>
      }
      actions={<EnvironmentActions environment={environment} isOwn={isOwn} />}
    >
      <div className="stack">
        {setup_failed && (
          <p className="form-error">The latest setup failed. Runs in this environment fail before the agent starts.</p>
        )}
        <HealthCard kind="environment" id={environment.uid} />
        <section className="card" aria-label="Details">
          <div className="card-head">
            <h2>Details</h2>
            <SetupState environment={environment} />
          </div>
          <EnvironmentFacts environment={environment} viewers={viewers} />
        </section>
        <section className="card" aria-label="Setup commands">
          <div className="card-head">
            <h2>Setup commands</h2>
          </div>
          <div className="card-body stack">
            {commands.length === 0 ? (
              <p className="faint">None. The agent starts when the repositories are cloned.</p>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: commands have no identity and no state.
              commands.map((text, index) => <Code key={index} text={revealHidden(text)} language="sh" />)
            )}
            <Snapshot environment={environment} />
          </div>
        </section>
        {isOwn && <Sharing environment={environment} />}
      </div>
    </Page>
  );
}

/** What later runs start with instead of running the commands. */
function Snapshot({ environment: { setup_snapshot: snapshot } }: EnvironmentProps) {
  if (snapshot === undefined) return null;
  return (
    <p className="faint">
      Runs start with the setup of <Time at={snapshot.created_at} /> ({Math.ceil(snapshot.size_bytes / 1_000_000)} MB,{" "}
      <Link to="/runs/$runId" params={{ runId: snapshot.run_id }}>
        its run
      </Link>
      ) as long as nothing that it depends on has changed.
    </p>
  );
}

function EnvironmentActions({ environment, isOwn }: EnvironmentProps & { readonly isOwn: boolean }) {
  const { uid, config } = environment;
  const [open, setOpen] = useState<"edit" | "delete">();
  const navigate = useNavigate();
  const tryOut = useMutation({
    mutationFn: () => client.environments.tryOut(uid),
    onSuccess: async ({ run_id }) => {
      await navigate({ to: "/runs/$runId", params: { runId: run_id } });
      await refreshQueries({ queryKey: ["environments"] });
    },
  });
  const remove = useMutation({
    mutationFn: () => client.environments.delete(uid),
    onSuccess: async () => {
      await navigate({ to: "/environments" });
      queryClient.removeQueries({ queryKey: ["environments", uid] });
      await refreshQueries({ queryKey: ["environments"] });
    },
  });
  return (
    <>
      <Link to="/runs/new" search={{ environment: uid }} className="button button-primary">
        <Play size={15} aria-hidden />
        <span>Use in a new run</span>
      </Link>
      <Button
        icon={<FlaskConical size={15} aria-hidden />}
        title="Starts a run that sets up the environment and calls no model. Later runs start from its result."
        busy={tryOut.isPending}
        onClick={() => tryOut.mutate()}
      >
        {environment.setup_snapshot === undefined ? "Try it" : "Set up again"}
      </Button>
      {isOwn && (
        <>
          <Button icon={<Pencil size={15} aria-hidden />} onClick={() => setOpen("edit")}>
            Edit
          </Button>
          <Button look="danger" icon={<Trash2 size={15} aria-hidden />} onClick={() => setOpen("delete")}>
            Delete
          </Button>
        </>
      )}
      <InlineError error={tryOut.error} />
      {open === "edit" && <EnvironmentEditor environment={environment} onClose={() => setOpen(undefined)} />}
      <Confirm
        open={open === "delete"}
        onClose={() => setOpen(undefined)}
        title={`Delete ${config.name}?`}
        text="Schedules and agents that name it create no runs until they name another environment. Its runs stay."
        action="Delete the environment"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
