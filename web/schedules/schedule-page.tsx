import "../styles/new-run.css";
import "../styles/text.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Pencil, Trash2, Zap } from "lucide-react";
import { useState } from "react";
import type { RunItem, ScheduleItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { scheduleQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { HealthCard, useLatestRuns } from "../health/run-health.tsx";
import { costOf } from "../runs/cost-of.ts";
import { readOutcome } from "../runs/run-outcome.ts";
import { RunTime } from "../runs/run-time.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Markdown } from "../ui/markdown/markdown.tsx";
import { Page, useTitle } from "../ui/page.tsx";
import { PauseButton } from "../ui/pause-button.tsx";
import { toPlainLine } from "../ui/plain-line.ts";
import { StateBadge } from "../ui/run-state.tsx";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { CronPreview } from "./cron-preview.tsx";
import { ScheduleEditor } from "./schedule-editor.tsx";
import { TickStrip } from "./tick-strip.tsx";
import { useRunNow } from "./use-run-now.ts";

const route = getRouteApi("/shell/schedules/$scheduleId");

export function SchedulePage() {
  const { scheduleId } = route.useParams();
  const query = useQuery(scheduleQuery(scheduleId));
  useTitle(revealHidden(query.data?.name ?? "Schedule"));
  return (
    <Loaded query={query} rows={4}>
      {(schedule) => <LoadedSchedule schedule={schedule} />}
    </Loaded>
  );
}

function LoadedSchedule({ schedule }: { readonly schedule: ScheduleItem }) {
  const { name, cron_schedule: cron, time_zone: zone, enabled, prompt } = schedule;
  const fault = schedule.model_error ?? schedule.secret_error ?? schedule.last_spawn_error;
  return (
    <Page
      title={revealHidden(name)}
      lead={
        <>
          <Link to="/schedules">Schedules</Link> · {enabled ? "Active" : "Paused"}
        </>
      }
      actions={<ScheduleActions schedule={schedule} />}
    >
      <div className="stack">
        {fault !== null && <p className="form-error">{revealHidden(fault)}</p>}
        <section className="card card-body stack" aria-label="Times">
          <p className="mono">{cron}</p>
          <CronPreview cron={cron} timeZone={zone} />
        </section>
        <HealthCard kind="schedule" id={schedule.id} />
        <TickStrip scheduleId={schedule.id} />
        <RecentRuns schedule={schedule} />
        <section className="card card-body stack">
          <h2>Prompt</h2>
          <Markdown text={prompt} />
          <details className="folded">
            <summary>Configuration</summary>
            <Code text={JSON.stringify(schedule.agent_config ?? {}, undefined, 2)} language="json" />
          </details>
        </section>
      </div>
    </Page>
  );
}

function ScheduleActions({ schedule }: { readonly schedule: ScheduleItem }) {
  const { id, enabled, name } = schedule;
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "delete">();
  const refresh = () => refreshQueries({ queryKey: ["schedules"] });
  const toggle = useMutation({
    mutationFn: () => (enabled ? client.schedules.pause(id) : client.schedules.resume(id)),
    onSuccess: refresh,
  });
  const runNow = useRunNow(id);
  const remove = useMutation({
    mutationFn: () => client.schedules.delete(id),
    onSuccess: async () => {
      await navigate({ to: "/schedules" });
      await refresh();
    },
  });
  return (
    <>
      <Button
        look="primary"
        icon={<Zap size={15} aria-hidden />}
        busy={runNow.isPending}
        onClick={() => runNow.mutate()}
      >
        Run now
      </Button>
      <PauseButton enabled={enabled} busy={toggle.isPending} onClick={() => toggle.mutate()} />
      <Button icon={<Pencil size={15} aria-hidden />} onClick={() => setOpen("edit")}>
        Edit
      </Button>
      <Button look="danger" icon={<Trash2 size={15} aria-hidden />} onClick={() => setOpen("delete")}>
        Delete
      </Button>
      <InlineError error={toggle.error ?? runNow.error} />
      {open === "edit" && <ScheduleEditor schedule={schedule} onClose={() => setOpen(undefined)} />}
      <Confirm
        open={open === "delete"}
        onClose={() => setOpen(undefined)}
        title={`Delete ${name}?`}
        text="No more runs are started. The runs that it started stay."
        action="Delete the schedule"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}

function RecentRuns({ schedule }: { readonly schedule: ScheduleItem }) {
  const { recent_runs: runs = [] } = schedule;
  const latest = useLatestRuns({ kind: "schedule", id: schedule.id }).data ?? [];
  return (
    <section className="card">
      <div className="card-head">
        <h2>Recent runs</h2>
      </div>
      {runs.length === 0 ? (
        <p className="card-body faint">The schedule has not started a run yet.</p>
      ) : (
        <ul className="item-list">
          {runs.map(({ run_id, state, created_at }) => (
            <li key={run_id} className="item item-short">
              <div className="item-main">
                <Link to="/runs/$runId" params={{ runId: run_id }} className="item-title">
                  <Time at={created_at} />
                </Link>
                <RunFacts run={latest.find((run) => run.run_id === run_id)} />
              </div>
              <StateBadge state={state} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** How long a run took, what it cost, and what came of it. */
function RunFacts({ run }: { readonly run: RunItem | undefined }) {
  if (run === undefined) return null;
  const { pullRequest, lines } = readOutcome(run);
  const cost = costOf(run);
  const facts = [
    pullRequest === undefined ? "" : revealHidden(pullRequest.name),
    lines ?? "",
    cost === 0 ? "" : formatUsd(cost),
    revealHidden(toPlainLine(run.status_message?.message ?? "")),
  ];
  return (
    <p className="item-facts">
      <span>
        <RunTime run={run} />
      </span>
      {facts.filter(Boolean).map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </p>
  );
}
