import * as v from "valibot";
import { AWS_SANDBOXES, type SandboxProvider } from "#shared/wire/executions/sandboxes.ts";

/** A Lambda's environment, parsed at the first event and not before. */
type Name =
  | "TABLE_NAME"
  | "LIVE_TABLE_NAME"
  | "BUCKET_NAME"
  | "RUNS_QUEUE_URL"
  | "ENDS_QUEUE_URL"
  | "EVENTS_QUEUE_URL"
  | "DEAD_RUNS_QUEUE_URL"
  | "SANDBOX_FUNCTION_NAME"
  | "SANDBOX_TENANCY"
  | "DISCOVERY_FUNCTION_NAME"
  | "GITHUB_API_URL"
  | "GITLAB_API_URL"
  | "SLACK_API_URL"
  | "GITHUB_TOKEN_PARAMETER"
  | "GITHUB_APP_ID"
  | "GITHUB_APP_TEAM"
  | "GITHUB_APP_KEY_PARAMETER"
  | "GITHUB_APP_CLIENT_SECRET_PARAMETER"
  | "GITHUB_APP_WEBHOOK_SECRET_PARAMETER"
  | "SCHEDULE_GROUP"
  | "FIRE_SCHEDULE_ARN"
  | "SCHEDULER_ROLE_ARN"
  | "SECRETS_PATH"
  | "SECRETS_KEY"
  | "SECRETS_KMS_KEY"
  | "WEBHOOKS"
  | "WEBHOOK_SECRETS_PATH"
  | "WEBHOOK_SECRETS_KEY"
  | "IDENTITY_KEYS_PATH"
  | "WEBHOOK_ATTEMPTS_FUNCTION_NAME"
  | "SEND_WEBHOOKS_FUNCTION_NAME"
  | "CALL_SYSTEMS_FUNCTION_NAME"
  | "MODEL_URL"
  | "ANTHROPIC_KEY_PARAMETER"
  | "OPENAI_KEY_PARAMETER"
  | "NAMED_PROVIDERS"
  | "PROVIDER_CONNECTIONS"
  | "MISSING_MODELS"
  | "COMPATIBLE_BASE_URL"
  | "COMPATIBLE_KEY_PARAMETER"
  | "COMPATIBLE_TIMEOUT_SECONDS"
  | "OIDC_ISSUER"
  | "OIDC_CLIENT_ID"
  | "OIDC_SECRET_PARAMETER"
  | "BASE_URL"
  | "WEB_URL"
  | "ORIGIN_SECRET"
  | "PRINCIPALS"
  | "SCOPE"
  | "ROUTES"
  | "SIGNED_URL_SECONDS"
  | "AWS_REGION"
  | "MICROVM_IMAGE_ARN"
  | "FARGATE_CLUSTER"
  | "FARGATE_SECURITY_GROUP"
  | "FARGATE_EXECUTION_ROLE_ARN"
  | "FARGATE_HARNESS_IMAGE"
  | "FARGATE_LOG_GROUP"
  | "STAGE"
  | "OTLP_HEADERS_PARAMETER"
  | "WORKER_CLAIM_SECONDS"
  | "SANDBOX_START_SECONDS"
  | "SANDBOX_USD_PER_HOUR"
  | "MAX_EXECUTIONS"
  | "RUNYARD_COMMIT_AUTHOR"
  | "WORKER_SOCKET_URL"
  | "WORKER_SOCKET_ENDPOINT"
  | Rate
  | List;
type List =
  | "SANDBOXES"
  | "FARGATE_SUBNETS"
  | "MODEL_PROVIDERS"
  | "COMPATIBLE_MODELS"
  | "DISABLED_MODELS"
  | "MODEL_PRICES"
  | "MODEL_LIMITS";
type Rate =
  | "CREATES_PER_MINUTE"
  | "FOLLOWUPS_PER_MINUTE"
  | "KEYS_PER_MINUTE"
  | "TRIGGER_EVENTS_PER_MINUTE"
  | "THREAD_EVENTS_PER_MINUTE";

const Seconds = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(5), v.maxValue(604_800));
const ClaimSeconds = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1), v.maxValue(3600));
/** Seconds within which the execution of a claimed run must begin, by default. */
const CLAIM_SECONDS = 60;
/** The most is what is left of the time limit of the gateway's function. */
const TimeoutSeconds = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1), v.maxValue(800));
const Count = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1));
const Dollars = v.pipe(v.string(), v.toNumber(), v.minValue(0));

/** The setting `name`; throws naming it where it is missing. */
export function setting(name: Name): string {
  const value = settingIfAny(name);
  if (value === undefined) throw new Error(`setting ${name} is missing`);
  return value;
}

/** The setting `name`, or nothing where it is not set. */
export const settingIfAny = (name: Name): string | undefined => process.env[name] || undefined;

/** Seconds for which signed URLs are valid: 15 minutes by default, 5 seconds at least. */
export function signedUrlSeconds(): number {
  return v.parse(Seconds, settingIfAny("SIGNED_URL_SECONDS") ?? "900");
}

/** Seconds within which a claimed run must begin: 60 by default, one hour at most. */
export function workerClaimSeconds(): number {
  return v.parse(ClaimSeconds, settingIfAny("WORKER_CLAIM_SECONDS") ?? String(CLAIM_SECONDS));
}

/** Seconds within which a function that is a sandbox must send its first request, or `otherwise` where the deployment does not say. */
export function sandboxStartSeconds(otherwise: number): number {
  const value = settingIfAny("SANDBOX_START_SECONDS");
  return value === undefined ? otherwise : v.parse(ClaimSeconds, value);
}

/** Milliseconds that a server with a compatible API may take until its response begins or continues, or nothing for the default. */
export function compatibleTimeoutMs(): number | undefined {
  const value = settingIfAny("COMPATIBLE_TIMEOUT_SECONDS");
  return value === undefined ? undefined : v.parse(TimeoutSeconds, value) * 1_000;
}

/** US dollars of an hour in a sandbox that is a function, or nothing where the deployment does not say. */
export function sandboxUsdPerHour(): number | undefined {
  const value = settingIfAny("SANDBOX_USD_PER_HOUR");
  return value === undefined ? undefined : v.parse(Dollars, value);
}

/** Executions that the whole deployment may have at the same time, or nothing where there is no limit. */
export function maxExecutions(): number | undefined {
  const value = settingIfAny("MAX_EXECUTIONS");
  return value === undefined ? undefined : v.parse(Count, value);
}

/** How often a caller may do something within a minute, or nothing where the deployment leaves it at the default. */
export function rateLimitPerMinute(name: Rate): number | undefined {
  const value = settingIfAny(name);
  return value === undefined ? undefined : v.parse(Count, value);
}

/** The parts of a setting that is a list with commas; none where it is not set. */
export const listSetting = (name: List): readonly string[] => settingIfAny(name)?.split(",") ?? [];

/** The kinds of sandboxes that the deployment has, the usual one first: those that are named, and of MicroVMs only where the region has any. */
export function offeredSandboxes(): readonly SandboxProvider[] {
  const named = (settingIfAny("SANDBOXES") ?? "lambda").split(",");
  const hasMicrovms = settingIfAny("MICROVM_IMAGE_ARN") !== undefined;
  const known = named.flatMap((name) => AWS_SANDBOXES.filter((provider) => provider === name));
  return known.filter((provider) => provider !== "microvm" || hasMicrovms);
}

/** Whether Lambda isolates each execution as a tenant. Otherwise callers of the sandbox name no tenant. */
export const hasTenants = (): boolean => settingIfAny("SANDBOX_TENANCY") !== "shared";
