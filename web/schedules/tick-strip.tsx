import "../styles/strip.css";
import { useQuery } from "@tanstack/react-query";
import { ticksQuery } from "../api/queries.ts";
import { formatExact, formatWhen, toWords } from "../ui/format.ts";
import { Loaded } from "../ui/status.tsx";
import { Strip } from "../ui/strip.tsx";

const TONES: Readonly<Record<string, string>> = { fired: "good", skipped: "waiting", late: "error", failed: "bad" };

/** The outcomes of the last planned times, oldest first. */
export function TickStrip({ scheduleId }: { readonly scheduleId: string }) {
  const query = useQuery(ticksQuery(scheduleId));
  return (
    <section className="card card-body stack">
      <h2>Planned times</h2>
      <Loaded query={query} rows={1}>
        {(ticks) =>
          ticks.length === 0 ? (
            <p className="faint">No planned time has passed yet.</p>
          ) : (
            <>
              <div className="tick-strip">
                <Strip
                  label="Outcomes of the planned times"
                  items={ticks.map(({ scheduled_at, outcome, run_id, reason }) => ({
                    id: scheduled_at,
                    text: `${formatExact(scheduled_at)}: ${outcome}${reason === undefined ? "" : ` (${reason})`}`,
                    tone: TONES[outcome] ?? "off",
                    runId: run_id,
                  }))}
                />
                <div className="tick-axis" aria-hidden>
                  <span>{formatWhen(ticks.at(-1)?.scheduled_at ?? "")}</span>
                  <span>{formatWhen(ticks[0]?.scheduled_at ?? "")}</span>
                </div>
              </div>
              <ul className="tick-legend" aria-hidden>
                {Object.entries(TONES).map(([outcome, tone]) => (
                  <li key={outcome}>
                    <span className={`tick-dot tone-${tone}`} />
                    {toWords(outcome)}
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
