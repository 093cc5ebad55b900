import { useMemo } from "react";
import { formatExact, formatWhen } from "../ui/format.ts";
import { describeCron, nextTimes } from "./cron.ts";

interface CronPreviewProps {
  readonly cron: string;
  readonly timeZone: string;
}

/** A cron expression in words, and its next five times in the viewer's zone. */
export function CronPreview({ cron, timeZone }: CronPreviewProps) {
  const words = useMemo(() => describeCron(cron), [cron]);
  const times = useMemo(() => nextTimes(cron, timeZone), [cron, timeZone]);
  if (words === undefined || times.length === 0) return <p className="faint">The expression has no next time.</p>;
  return (
    <div className="cron-preview">
      <p>
        <strong>{words}</strong> <span className="faint">({timeZone})</span>
      </p>
      <p className="faint">Next times in your time zone</p>
      <ol className="next-times" aria-label="Next times in your time zone">
        {times.map((time) => (
          <li key={time.getTime()}>
            <time dateTime={time.toISOString()} title={formatExact(time.toISOString())}>
              {formatWhen(time.toISOString())}
            </time>
          </li>
        ))}
      </ol>
    </div>
  );
}
