import { type CronFields, parseFields } from "./cron.ts";

/** Maximum length of an expression of EventBridge Scheduler. */
const EXPRESSION_LENGTH = 256;

/**
 * Returns the cron of EventBridge Scheduler that fires whenever ours does, and maybe more often; additional firings have
 * no effect. Its days of the week count from 1. One of its day fields has to be `?`, so it cannot express that either of
 * two fields is enough: that becomes every day.
 */
export function schedulerCron(cron: string): string {
  const fields = parseFields(cron);
  const [days, weekdays] = dayFields(fields);
  const exact = expression(
    list(fields.minutes, 0, 59),
    list(fields.hours, 0, 23),
    days,
    list(fields.months, 1, 12),
    weekdays,
  );
  // A list of minutes this long leaves out hardly any.
  return exact.length <= EXPRESSION_LENGTH
    ? exact
    : expression("*", list(fields.hours, 0, 23), days, list(fields.months, 1, 12), weekdays);
}

function dayFields({ days, weekdays }: CronFields): [string, string] {
  if (days === "any" && weekdays === "any") return ["*", "?"];
  if (weekdays === "any") return [days === "any" ? "*" : list(days, 1, 31), "?"];
  if (days !== "any") return ["*", "?"];
  const counted = list(
    weekdays.map((weekday) => weekday + 1),
    1,
    7,
  );
  return counted === "*" ? ["*", "?"] : ["?", counted];
}

const expression = (...fields: readonly string[]): string => `cron(${fields.join(" ")} *)`;

/** Formats values as a list of ranges, which is the shortest form. */
function list(values: readonly number[], first: number, last: number): string {
  if (values.length === last - first + 1) return "*";
  const ranges: [number, number][] = [];
  for (const value of values) {
    const open = ranges.at(-1);
    if (open !== undefined && open[1] === value - 1) open[1] = value;
    else ranges.push([value, value]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}
