import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ticksQuery } from "../api/queries.ts";
import { formatExact, formatWhen, toWords } from "../ui/format.ts";
import { Loaded } from "../ui/status.tsx";

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
                <ol className="ticks" aria-label="Outcomes of the planned times, oldest first">
                  {ticks.toReversed().map(({ scheduled_at, outcome, run_id, reason }) => {
                    const text = `${formatExact(scheduled_at)}: ${outcome}${reason === undefined ? "" : ` (${reason})`}`;
                    const look = `tick tone-${TONES[outcome] ?? "off"}`;
                    return (
                      <li key={scheduled_at}>
                        {run_id === undefined ? (
                          <span className={look} role="img" aria-label={text} title={text} />
                        ) : (
                          <Link
                            to="/runs/$runId"
                            params={{ runId: run_id }}
                            className={look}
                            aria-label={text}
                            title={text}
                          />
                        )}
                      </li>
                    );
                  })}
                </ol>
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
