import { useRouter } from "@tanstack/react-router";
import { CalendarClock, CornerDownRight } from "lucide-react";
import { type MouseEvent, memo, type ReactNode } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { runAuthor } from "../ui/person-name.ts";
import { toPlainLine } from "../ui/plain-line.ts";
import { StateIcon, sourceLabel } from "../ui/run-state.tsx";
import { Time } from "../ui/time.tsx";
import { costOf } from "./cost-of.ts";
import { readOutcome } from "./run-outcome.ts";
import { RunTime } from "./run-time.tsx";
import { titleOf } from "./title-of.ts";

interface RunRowProps {
  readonly run: RunItem;
  readonly isSelected: boolean;
}

/** A run of the list. The whole row is the link. */
export const RunRow = memo(({ run, isSelected }: RunRowProps) => {
  const { agent_config: config, schedule } = run;
  const { pullRequest, lines } = readOutcome(run);
  return (
    <RowLink runId={run.run_id} isSelected={isSelected}>
      <StateIcon state={run.state} />
      <span className="run-row-main">
        <span className="run-row-title">{titleOf(run)}</span>
        <span className="run-row-facts">
          {schedule !== undefined && (
            <span className="run-row-fact">
              <CalendarClock size={13} aria-hidden />
              {schedule.schedule_name === run.title.trim() ? "Schedule" : revealHidden(schedule.schedule_name)}
            </span>
          )}
          {run.parent_run_id !== undefined && (
            <span className="run-row-fact">
              <CornerDownRight size={13} aria-hidden />
              Child run
            </span>
          )}
          {pullRequest !== undefined && (
            <span className="run-row-fact">
              <span className="visually-hidden">Pull request </span>
              {revealHidden(pullRequest.name)} {pullRequest.status !== "unknown" && pullRequest.status}
            </span>
          )}
          {lines !== undefined && <span className="run-row-fact number">{lines}</span>}
          {run.status_message !== undefined ? (
            <span className="run-row-fact run-row-message">
              {revealHidden(toPlainLine(run.status_message.message))}
            </span>
          ) : (
            <span className="run-row-fact">{revealHidden(config?.skill_spec ?? config?.model_id ?? "")}</span>
          )}
        </span>
      </span>
      <span className="run-row-who truncate">
        {runAuthor(run)}
        <span className="faint"> · {sourceLabel(run.source)}</span>
      </span>
      <span className="run-row-cost number">{formatCost(run)}</span>
      <span className="run-row-when number">
        <span className="run-row-time">
          <RunTime run={run} />
        </span>
        <Time at={run.created_at} className="faint" />
      </span>
    </RowLink>
  );
});

interface RowLinkProps {
  readonly runId: string;
  readonly isSelected: boolean;
  readonly children: ReactNode;
}

/** A link within the app. The router's own computes and watches its address, which takes long for a screen full of rows. */
function RowLink({ runId, isSelected, children }: RowLinkProps) {
  const router = useRouter();
  const target = { to: "/runs/$runId", params: { runId } } as const;
  const open = (event: MouseEvent) => {
    const isOurs = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isOurs) return;
    event.preventDefault();
    void router.navigate(target);
  };
  return (
    <a
      href={`/runs/${encodeURIComponent(runId)}`}
      className="run-row"
      data-selected={isSelected || undefined}
      onClick={open}
      onPointerEnter={() => void router.preloadRoute(target)}
    >
      {children}
    </a>
  );
}

function formatCost(run: RunItem): string {
  const total = costOf(run);
  return total === 0 ? "" : formatUsd(total);
}
