import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowDown, Files, GitCompare } from "lucide-react";
import type { ReactNode } from "react";
import type { RunEvent, RunItem } from "../../../clients/typescript/src/index.ts";
import { environmentsQuery } from "../../api/queries.ts";
import { costOf } from "../../runs/cost-of.ts";
import { listPullRequests, totalChanges } from "../../runs/run-outcome.ts";
import { formatUsd, isFailed, plural, toWords } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { Terminal } from "../../ui/terminal/terminal.tsx";
import { Fact } from "../fact.tsx";
import { countArtifacts, failedSetup } from "./outcome.ts";
import { PullRequestLink } from "./pull-request-link.tsx";

interface FactsProps {
  readonly run: RunItem;
  readonly events: readonly RunEvent[];
  /** The key of the step that failed. */
  readonly failing: string | undefined;
}

/** What an ended run has made and cost, and, where it failed, in which context. */
export function OutcomeFacts({ run, events, failing }: FactsProps) {
  return (
    <>
      {isFailed(run.state) && <FailureContext run={run} events={events} />}
      <ul className="outcome-facts">
        {failing !== undefined && (
          <Item icon={<ArrowDown size={15} aria-hidden />}>
            <Link
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              hash={failing}
              replace
              resetScroll={false}
              aria-keyshortcuts="e"
            >
              Go to the failing step
            </Link>{" "}
            <kbd>e</kbd>
          </Item>
        )}
        {listPullRequests(run).map((request) => (
          <li key={request.url} className="outcome-fact">
            <PullRequestLink request={request} />
          </li>
        ))}
        <ResultLinks run={run} />
        <Cost run={run} />
      </ul>
    </>
  );
}

const Item = ({ icon, children }: { readonly icon?: ReactNode; readonly children: ReactNode }) => (
  <li className="outcome-fact">
    {icon}
    <span>{children}</span>
  </li>
);

/** Leads to the changes and to the artifacts, which are on the same page. */
function ResultLinks({ run }: { readonly run: RunItem }) {
  const changes = totalChanges(run);
  const artifacts = countArtifacts(run);
  return (
    <>
      {changes !== undefined && (
        <Item icon={<GitCompare size={15} aria-hidden />}>
          <SectionLink id="changes">{plural(changes.files, "changed file")}</SectionLink>{" "}
          <span className="diff-added">+{changes.insertions}</span>{" "}
          <span className="diff-removed">−{changes.deletions}</span>
        </Item>
      )}
      {artifacts > 0 && (
        <Item icon={<Files size={15} aria-hidden />}>
          <SectionLink id="artifacts">{plural(artifacts, "artifact")}</SectionLink>
        </Item>
      )}
    </>
  );
}

/** Frames for which a part of the page that is still being loaded is waited for. */
const MAX_FRAMES = 300;

/** Scrolls to a part of the page, and opens it. The address stays, because it names steps. */
function openSection(id: string, frame = 0): void {
  const section = document.getElementById(id);
  if (section === null) {
    if (frame < MAX_FRAMES) requestAnimationFrame(() => openSection(id, frame + 1));
    return;
  }
  section.querySelector("details.repository")?.setAttribute("open", "");
  section.scrollIntoView({ block: "start" });
}

const SectionLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => (
  <button type="button" className="link-button" onClick={() => openSection(id)}>
    {children}
  </button>
);

function Cost({ run }: { readonly run: RunItem }) {
  const own = costOf(run);
  const tree = run.request_usage?.tree;
  if (tree !== undefined && tree.runs > 1)
    return (
      <Item>
        Cost {formatUsd(tree.cost_usd)} with {plural(tree.runs - 1, "child run")}, {formatUsd(own)} without
      </Item>
    );
  return own > 0 ? <Item>Cost {formatUsd(own)}</Item> : null;
}

function FailureContext({ run, events }: { readonly run: RunItem; readonly events: readonly RunEvent[] }) {
  const { environment_id: environment, repositories = [], model_id: model } = run.agent_config ?? {};
  const setup = failedSetup(events);
  return (
    <>
      <dl className="facts outcome-context">
        {environment !== undefined && (
          <Fact name="Environment">
            <EnvironmentLink uid={environment} />
          </Fact>
        )}
        {repositories.map(({ url, ref }) => (
          <Fact key={url} name="Repository">
            <span className="mono">{revealHidden(url)}</span>
            {ref !== undefined && <> at {revealHidden(ref)}</>}
          </Fact>
        ))}
        {model !== undefined && (
          <Fact name="Model">
            <span className="mono">{revealHidden(model)}</span>
          </Fact>
        )}
      </dl>
      {setup !== undefined && setup.detail !== "" && (
        <div className="outcome-setup">
          <p className="muted">{toWords(setup.type)}</p>
          <Terminal text={setup.detail} label="the output of the setup" />
        </div>
      )}
    </>
  );
}

function EnvironmentLink({ uid }: { readonly uid: string }) {
  const { data } = useQuery(environmentsQuery);
  const name = data?.find((one) => one.uid === uid)?.config.name;
  return (
    <Link to="/environments/$environmentUid" params={{ environmentUid: uid }}>
      {revealHidden(name ?? uid)}
    </Link>
  );
}
