/**
 * Returns the times at which EventBridge Scheduler fires a cron expression, as its documentation describes. It uses no cron
 * library, so that it can be compared with one. A local time that the clocks skip is skipped; a repeated one fires once.
 */
export function schedulerTimes(expression: string, zone: string, from: number, to: number): number[] {
  const fields = /^cron\((\S+) (\S+) (\S+) (\S+) (\S+) \*\)$/.exec(expression)?.slice(1);
  if (fields === undefined) throw new Error(`the scheduler refuses ${expression}`);
  const [minutes = "", hours = "", days = "", months = "", weekdays = ""] = fields;
  if ((days === "?") === (weekdays === "?")) throw new Error(`one of the day fields of ${expression} has to be ?`);
  const minuteSet = values(minutes, 0, 59);
  const hourSet = values(hours, 0, 23);
  const daySet = values(days, 1, 31);
  const monthSet = values(months, 1, 12);
  const weekdaySet = values(weekdays, 1, 7);
  const times: number[] = [];
  const first = Math.floor(from / DAY) * DAY - DAY;
  for (let day = first; day <= to + DAY; day += DAY) {
    const date = new Date(day);
    const isDay = daySet.has(date.getUTCDate()) && weekdaySet.has(date.getUTCDay() + 1);
    if (!isDay || !monthSet.has(date.getUTCMonth() + 1)) continue;
    const [before, after] = [offsetMinutes(day - DAY, zone), offsetMinutes(day + 2 * DAY, zone)];
    for (const hour of hourSet) {
      for (const minute of minuteSet) {
        const at = toInstant(day + (hour * 60 + minute) * MINUTE, zone, before, after);
        if (at !== undefined && at >= from && at < to) times.push(at);
      }
    }
  }
  return times.sort((a, b) => a - b);
}

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/** The first instant at which the clocks of the zone show a local time, or undefined where they never do. */
function toInstant(local: number, zone: string, before: number, after: number): number | undefined {
  // A day without a clock change has one offset.
  if (before === after) return local - before * MINUTE;
  const found = [before, after].map((offset) => local - offset * MINUTE);
  const real = found.filter((at) => at + offsetMinutes(at, zone) * MINUTE === local);
  return real.length === 0 ? undefined : Math.min(...real);
}

function values(field: string, least: number, most: number): Set<number> {
  if (field === "*" || field === "?")
    return new Set(Array.from({ length: most - least + 1 }, (_, index) => least + index));
  const found = new Set<number>();
  for (const part of field.split(",")) {
    const [, low = "", high = low] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const [start, end] = [Number(low), Number(high)];
    if (low === "" || start < least || end > most || start > end) throw new Error(`the scheduler refuses ${part}`);
    for (let value = start; value <= end; value++) found.add(value);
  }
  return found;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const known = new Map<string, number>();

/** Minutes by which the clocks of a zone are ahead of UTC. */
export function offsetMinutes(at: number, zone: string): number {
  const key = `${zone} ${at}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...digits });
    formats.set(zone, format);
  }
  const part = (name: string) => Number(parts.find(({ type }) => type === name)?.value);
  const parts = format.formatToParts(new Date(at));
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
  const offset = (local - Math.floor(at / MINUTE) * MINUTE) / MINUTE;
  if (known.size > 200_000) known.clear();
  known.set(key, offset);
  return offset;
}
