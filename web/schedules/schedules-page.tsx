import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock, Plus, Zap } from "lucide-react";
import type { ScheduleItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { schedulesQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { RowHealth } from "../health/run-health.tsx";
import { IconButton } from "../ui/button.tsx";
import { formatWhen } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page } from "../ui/page.tsx";
import { PauseIcon } from "../ui/pause-button.tsx";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { describeCron } from "./cron.ts";
import { useRunNow } from "./use-run-now.ts";

const NEW = (
  <Link to="/runs/new" search={{ schedule: "yes" }} className="button button-primary">
    <Plus size={16} aria-hidden />
    <span>New schedule</span>
  </Link>
);

export function SchedulesPage() {
  const query = useQuery(schedulesQuery);
  return (
    <Page title="Schedules" lead="Prompts that run at the times of a cron expression." actions={NEW}>
      <section className="card" aria-label="List of schedules">
        <Loaded query={query}>
          {(schedules) =>
            schedules.length === 0 ? (
              <Empty icon={<CalendarClock size={32} aria-hidden />} title="No schedules yet">
                <p>A schedule starts a run each night, each week, or at any other times.</p>
                {NEW}
              </Empty>
            ) : (
              <ul className="item-list">
                {schedules.map((schedule) => (
                  <ScheduleRow key={schedule.id} schedule={schedule} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
    </Page>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: ScheduleItem }) {
  const { id, name, cron_schedule: cron, time_zone: zone, enabled, history } = schedule;
  const fault = schedule.model_error ?? schedule.last_spawn_error;
  const toggle = useMutation({
    mutationFn: () => (enabled ? client.schedules.pause(id) : client.schedules.resume(id)),
    onSuccess: () => refreshQueries({ queryKey: ["schedules"] }),
  });
  const runNow = useRunNow(id);
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} className="item-title">
          {revealHidden(name)}
        </Link>
        <p className="item-facts">
          <span>{describeCron(cron) ?? cron}</span>
          <span className="faint">{zone}</span>
        </p>
        {fault !== null && <p className="field-error">{revealHidden(fault)}</p>}
        {schedule.failing_since !== undefined && (
          <p className="field-error">
            Its runs have failed since <Time at={schedule.failing_since} />
          </p>
        )}
        <RowHealth kind="schedule" id={id} hasOwnTimes />
        <InlineError error={toggle.error ?? runNow.error} />
      </div>
      <div className="item-side">
        {enabled ? (
          <span>
            Next{" "}
            <strong className="number">{history.next_run === null ? "never" : formatWhen(history.next_run)}</strong>
          </span>
        ) : (
          <span className="badge">Paused</span>
        )}
        {history.last_ran !== null && (
          <span className="faint">
            Last ran <Time at={history.last_ran} />
          </span>
        )}
      </div>
      <div className="item-actions">
        <IconButton label={`Run ${name} now`} onClick={() => runNow.mutate()}>
          <Zap size={16} aria-hidden />
        </IconButton>
        <PauseIcon name={name} enabled={enabled} onClick={() => toggle.mutate()} />
      </div>
    </li>
  );
}
