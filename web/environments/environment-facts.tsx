import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { OutsideLink } from "../ui/outside-link.tsx";
import { personName } from "../ui/person-name.ts";
import { StateBadge } from "../ui/run-state.tsx";
import { safeUrl } from "../ui/safe-url.ts";
import { Time } from "../ui/time.tsx";

interface EnvironmentFactsProps {
  readonly environment: EnvironmentItem;
  readonly viewers: string;
}

/** What runs in the environment get, whose it is, and its latest run. */
export function EnvironmentFacts({ environment, viewers }: EnvironmentFactsProps) {
  const { config, last_editor: editor, last_task_created: run } = environment;
  const { repositories = [], secrets = [], docker_image: image, worker_host: worker, variables, network } = config;
  return (
    <div className="card-body stack">
      <dl className="facts">
        <Fact name="Repositories">
          {repositories.length > 0 && (
            <ul>
              {repositories.map((repository) => (
                <li key={JSON.stringify(repository)}>
                  <Repository repository={repository} />
                </li>
              ))}
            </ul>
          )}
        </Fact>
        <Fact name="Secrets">
          {secrets.length > 0 && <code>{secrets.map(({ name }) => revealHidden(name)).join(", ")}</code>}
        </Fact>
        <Fact name="Variables">
          {variables !== undefined && (
            <ul>
              {Object.entries(variables).map(([name, value]) => (
                <li key={name}>
                  <code>
                    {revealHidden(name)}={revealHidden(value)}
                  </code>
                </li>
              ))}
            </ul>
          )}
        </Fact>
        <Fact name="Network">
          {network !== undefined && network.mode !== "open" && (
            <span>{network.mode === "none" ? "None" : revealHidden((network.domains ?? []).join(", "))}</span>
          )}
        </Fact>
        <Fact name="Docker image">{image !== undefined && <code>{revealHidden(image)}</code>}</Fact>
        <Fact name="Worker">{worker !== undefined && <code>{revealHidden(worker)}</code>}</Fact>
        <Fact name="Visible to">{revealHidden(viewers)}</Fact>
        <Fact name="Changed by">{personName(editor)}</Fact>
        <Fact name="Latest run">
          {run !== undefined && (
            <span className="row">
              <Link to="/runs/$runId" params={{ runId: run.id }}>
                {revealHidden(run.title)}
              </Link>
              <StateBadge state={run.state} />
              <Time at={run.created_at} />
            </span>
          )}
        </Fact>
      </dl>
    </div>
  );
}

type RepositoryItem = NonNullable<EnvironmentItem["config"]["repositories"]>[number];

const Repository = ({ repository }: { readonly repository: RepositoryItem }) => {
  const { url, ref, path, token_secret, depth, submodules, lfs, sparse_paths } = repository;
  return (
    <>
      {safeUrl(url) === undefined ? revealHidden(url) : <OutsideLink href={url}>{revealHidden(url)}</OutsideLink>}
      {ref !== undefined && (
        <>
          {" "}
          at <code>{revealHidden(ref)}</code>
        </>
      )}
      {path !== undefined && (
        <>
          {" "}
          in <code>{revealHidden(path)}</code>
        </>
      )}
      {token_secret !== undefined && (
        <>
          , cloned with <code>{revealHidden(token_secret)}</code>
        </>
      )}
      {sparse_paths !== undefined && (
        <>
          , only <code>{sparse_paths.map(revealHidden).join(", ")}</code>
        </>
      )}
      {depth !== undefined && `, latest commits: ${depth}`}
      {submodules === true && ", with submodules"}
      {lfs === true && ", with files in Git LFS"}
    </>
  );
};

/** A fact, or nothing if there is no value. */
const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) =>
  children === false || children === "" ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
