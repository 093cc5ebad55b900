import { useMemo, useState } from "react";
import type { UsageBucket } from "../api/usage.ts";
import { formatCompact, formatCount, formatDay, formatUsd } from "../ui/format.ts";
import { toTicks } from "./figures.ts";

interface DayChartProps {
  readonly buckets: readonly UsageBucket[];
  readonly days: number;
}

const MEASURES = ["runs", "cost", "tokens"] as const;
type Measure = (typeof MEASURES)[number];
const LABELS: Readonly<Record<Measure, string>> = { runs: "Runs", cost: "Cost", tokens: "Tokens" };

const OUTCOMES = [
  ["good", "Succeeded"],
  ["bad", "Failed"],
  ["off", "Other"],
] as const;

/** The parts of the period at which the axis has a day. */
const AXIS = [0, 0.25, 0.5, 0.75, 1] as const;

/** A bar for each day. Runs are split by outcome. */
export function DayChart({ buckets, days }: DayChartProps) {
  const [measure, setMeasure] = useState<Measure>("runs");
  const series = useMemo(() => fillDays(buckets, days), [buckets, days]);
  const ticks = toTicks(Math.max(0, ...series.map((bucket) => measureValue(bucket, measure))), measure !== "cost");
  const most = ticks.at(-1) ?? 1;
  return (
    <section className="card" aria-label="Usage by day">
      <div className="card-head">
        <h2>{LABELS[measure]} by day</h2>
        <fieldset className="views">
          <legend className="visually-hidden">Measure</legend>
          {MEASURES.map((one) => (
            <button
              key={one}
              type="button"
              className="view"
              aria-pressed={one === measure}
              onClick={() => setMeasure(one)}
            >
              {LABELS[one]}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="chart card-body">
        <div className="plot">
          {ticks.map((tick) => (
            <div key={tick} className="grid-line" style={{ bottom: `${(tick / most) * 100}%` }} aria-hidden>
              <span className="number">{tick === 0 ? "0" : formatValue(tick, measure)}</span>
            </div>
          ))}
          <ol className="bars">
            {series.map((bucket) => (
              <DayBar key={bucket.key} bucket={bucket} measure={measure} most={most} />
            ))}
          </ol>
        </div>
        <div className="chart-axis number" aria-hidden>
          {AXIS.map((part) => (
            <span key={part}>{formatDay(series[Math.round((series.length - 1) * part)]?.key ?? "")}</span>
          ))}
        </div>
        {measure === "runs" && (
          <ul className="chart-legend" aria-hidden>
            {OUTCOMES.map(([tone, label]) => (
              <li key={tone}>
                <span className={`tone-${tone}`} />
                {label}
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

interface DayBarProps {
  readonly bucket: UsageBucket;
  readonly measure: Measure;
  readonly most: number;
}

function DayBar({ bucket, measure, most }: DayBarProps) {
  const value = measureValue(bucket, measure);
  const other = Math.max(0, bucket.runs - bucket.succeeded - bucket.failed);
  const parts =
    measure === "runs"
      ? [
          { tone: "good", value: bucket.succeeded },
          { tone: "bad", value: bucket.failed },
          { tone: "off", value: other },
        ]
      : [{ tone: "accent", value }];
  const split = measure === "runs" && value > 0 ? ` (${bucket.succeeded} succeeded, ${bucket.failed} failed)` : "";
  const text = `${formatDay(bucket.key ?? "")}: ${formatValue(value, measure)}${split}`;
  return (
    <li className="bar" title={text}>
      <span className="visually-hidden">{text}</span>
      {parts.map(
        (part) =>
          part.value > 0 && (
            <span
              key={part.tone}
              className={`bar-part tone-${part.tone}`}
              style={{ height: `${(part.value / most) * 100}%` }}
            />
          ),
      )}
    </li>
  );
}

const measureValue = ({ runs, cost_usd, total_tokens }: UsageBucket, measure: Measure): number =>
  measure === "runs" ? runs : measure === "cost" ? cost_usd : total_tokens;

const formatValue = (value: number, measure: Measure): string =>
  measure === "cost" ? formatUsd(value) : measure === "runs" ? formatCount(value) : formatCompact(value);

/** Days without usage have no bucket. */
function fillDays(buckets: readonly UsageBucket[], days: number): UsageBucket[] {
  const byDay = new Map(buckets.map((bucket) => [bucket.key, bucket]));
  return Array.from({ length: days }, (_, index) => {
    const key = new Date(Date.now() - (days - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return byDay.get(key) ?? { key, runs: 0, succeeded: 0, failed: 0, total_tokens: 0, cost_usd: 0, run_seconds: 0 };
  });
}
