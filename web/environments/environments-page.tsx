import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Box, Plus } from "lucide-react";
import { useState } from "react";
import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { environmentsQuery } from "../api/queries.ts";
import { RowHealth } from "../health/run-health.tsx";
import { Button } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { EnvironmentEditor } from "./environment-editor.tsx";
import { Secrets } from "./secrets.tsx";
import { SetupState } from "./setup-state.tsx";

export function EnvironmentsPage() {
  // Each run may change whether the setup fails.
  const query = useQuery({ ...environmentsQuery, staleTime: 0, refetchInterval: 15_000 });
  const [isOpen, setOpen] = useState(false);
  const create = (
    <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
      New environment
    </Button>
  );
  return (
    <Page title="Environments" lead="Repositories, setup commands and secrets that runs start with." actions={create}>
      <div className="stack">
        <section className="card" aria-label="List of environments">
          <Loaded query={query}>
            {(environments) =>
              environments.length === 0 ? (
                <Empty icon={<Box size={32} aria-hidden />} title="No environments yet">
                  <p>An environment saves each run from naming its repositories and how to set them up.</p>
                  {create}
                </Empty>
              ) : (
                <ul className="item-list">
                  {environments.map((environment) => (
                    <EnvironmentRow key={environment.uid} environment={environment} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </section>
        <Secrets />
      </div>
      {isOpen && <EnvironmentEditor onClose={() => setOpen(false)} />}
    </Page>
  );
}

function EnvironmentRow({ environment }: { readonly environment: EnvironmentItem }) {
  const { uid, config, last_updated } = environment;
  const { name, description, repositories = [] } = config;
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/environments/$environmentUid" params={{ environmentUid: uid }} className="item-title">
          {revealHidden(name)}
        </Link>
        {description !== undefined && <p className="item-facts">{revealHidden(description)}</p>}
        <p className="item-facts">
          {repositories.length === 0 && <span className="faint">No repositories</span>}
          {repositories.map(({ url, ref, path }) => (
            <span key={`${url} ${ref} ${path}`}>
              {revealHidden(shortenUrl(url) + (ref === undefined ? "" : ` at ${ref}`))}
            </span>
          ))}
        </p>
        <RowHealth kind="environment" id={uid} />
      </div>
      <div className="item-side">
        <SetupState environment={environment} />
        <span className="faint">
          Updated <Time at={last_updated} />
        </span>
      </div>
    </li>
  );
}

/** The URL of a repository as people say it: without the scheme, and without the host that most have. */
const shortenUrl = (url: string): string => url.replace(/^https:\/\/(github\.com\/)?/, "").replace(/\.git$/, "");
