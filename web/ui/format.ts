import type { RunState } from "../../clients/typescript/src/index.ts";

/** Formatters are slow to make, so each is made when it is first used. */
function once<T>(make: () => T): () => T {
  let cache: { readonly value: T } | undefined;
  return () => {
    cache ??= { value: make() };
    return cache.value;
  };
}

const dates = (options: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(undefined, options));
const exact = dates({ dateStyle: "full", timeStyle: "long" });
const short = dates({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const counts = once(() => new Intl.NumberFormat());
const compact = once(() => new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }));

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** What the clocks of the service and of the browser may differ by, so that what was just created is not in the future. */
const CLOCK_DIFFERENCE_MS = 5000;

/**
 * "5 min ago"; dates that are more than a week away are written out. The browser's own formatter for this takes longer to make than
 * a list of runs takes to render.
 */
export function formatRelative(at: string, now: number): string {
  const difference = Date.parse(at) - now;
  if (Number.isNaN(difference)) return "";
  const distance = Math.abs(difference);
  if (distance > 7 * 86_400_000) return short().format(new Date(at));
  for (const [unit, size] of UNITS) {
    const text = `${Math.trunc(distance / size)} ${unit}`;
    if (distance >= size) return difference > 0 ? `in ${text}` : `${text} ago`;
  }
  return difference > CLOCK_DIFFERENCE_MS ? "in a moment" : "just now";
}

const utcDay = dates({ month: "short", day: "numeric", timeZone: "UTC" });

/** A day such as 2026-05-18, which is in UTC. */
export const formatDay = (day: string): string => {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? day : utcDay().format(date);
};

const format = (by: () => Intl.DateTimeFormat) => (at: string) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : by().format(date);
};
export const formatExact = format(exact);
/** "09:05:30". */
export function formatClock(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
export const formatCount = (count: number): string => counts().format(count);
export const formatCompact = (count: number): string => compact().format(count);

/** "1 h 5 min", "12.3 s", "340 ms". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Parses an ISO 8601 duration such as `PT1M2.5S` to milliseconds. */
export function parseDuration(text: string | undefined): number | undefined {
  const parts = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(text ?? "");
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

export function formatUsd(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.01) return "< $0.01";
  return `$${usd.toFixed(2)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** `setup_repo_clone` → `Setup repo clone`. */
export const toWords = (name: string): string => capitalize(name.replaceAll(/[_-]+/g, " ").trim());

/** The service's messages are parts of sentences, unless they begin with the name of a member. */
export const toSentence = (text: string): string => (/^[a-z'-]+ /.test(text) ? capitalize(text) : text);

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The first text that shows something, unlike one that is absent or blank. */
export const firstText = (texts: readonly unknown[]): string | undefined =>
  texts.find((text): text is string => typeof text === "string" && text.trim() !== "");

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** "30 minutes"; in seconds if it is not a number of minutes. */
export const formatWholeMinutes = (seconds: number): string =>
  seconds % 60 === 0 ? plural(seconds / 60, "minute") : plural(seconds, "second");

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]);
export const isEnded = (state: RunState): boolean => ENDED.has(state);

/** Whether a run failed, by its agent or by the service. */
export const isFailed = (state: RunState): boolean => state === "FAILED" || state === "ERROR";

/** "Mon 24 Nov, 09:00". */
export const formatWhen = format(
  dates({
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  }),
);
