import * as v from "valibot";

/** A Lambda's environment, parsed at the first event and not before. */
type Name =
  | "TABLE_NAME"
  | "BUCKET_NAME"
  | "RUNS_QUEUE_URL"
  | "ENDS_QUEUE_URL"
  | "REAPER_QUEUE_URL"
  | "SANDBOX_FUNCTION_NAME"
  | "SCHEDULE_GROUP"
  | "TICKS_QUEUE_ARN"
  | "SCHEDULER_ROLE_ARN"
  | "SECRETS_PATH"
  | "BASE_URL"
  | "WEB_URL"
  | "PRINCIPALS"
  | "ROUTES"
  | "SIGNED_URL_SECONDS";

const Seconds = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(5), v.maxValue(604_800));

/** The setting `name`; throws naming it where it is missing. */
export function setting(name: Name): string {
  const value = settingIfAny(name);
  if (value === undefined) throw new Error(`setting ${name} is missing`);
  return value;
}

/** The setting `name`, or nothing where it is not set. */
export const settingIfAny = (name: Name): string | undefined => process.env[name] || undefined;

/** Seconds that signed URLs live: 15 minutes by default, 5 seconds at least. */
export function signedUrlSeconds(): number {
  return v.parse(Seconds, settingIfAny("SIGNED_URL_SECONDS") ?? "900");
}
