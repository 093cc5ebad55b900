const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** @param {string} time */
export const asDate = (time) => formatted(DATE, time);

/** @param {string} time */
export const asClock = (time) => formatted(CLOCK, time);

/**
 * @param {Intl.DateTimeFormat} format
 * @param {string} time
 */
function formatted(format, time) {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : format.format(at);
}

/** @param {number} milliseconds */
export function asDuration(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Milliseconds of an ISO 8601 duration such as PT1M2.5S; undefined for what is none.
 *
 * @param {string | undefined} duration
 */
export function parseDuration(duration) {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(duration ?? "");
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** @param {number} bytes */
export function asSize(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/**
 * A name of the wire as people read it: `run_created` is "Run created".
 *
 * @param {string} name
 */
export function asWords(name) {
  const words = name.replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string} state */
export const asState = (state) => (state === "INPROGRESS" ? "In progress" : asWords(state));

/** @param {string} state */
export const isTerminal = (state) => ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"].includes(state);
