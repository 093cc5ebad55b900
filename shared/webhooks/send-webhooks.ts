import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { BlockedAddress, type OutwardFetch } from "#shared/oidc/outward-fetch.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import { signWebhook } from "./signature.ts";

/** Requests that are sent at the same time. */
const AT_ONCE = 50;
/** Milliseconds that a receiver has to respond. */
export const RECEIVER_MS = 10_000;

const members = { id: v.string(), url: v.string(), body: v.string() };

/** A request to the URL of a webhook, signed with secrets of its team. */
const WebhookRequest = v.object({
  ...members,
  team_uid: v.string(),
  secret_id: v.string(),
  /** A secret that signs as well, if it exists. */
  previous_secret_id: v.exactOptional(v.string()),
});
type WebhookRequest = v.InferOutput<typeof WebhookRequest>;

/** A request to a URL that receives events: of a webhook, or of one run, which is signed with the run's own secret. */
export const AttemptRequest = v.union([WebhookRequest, v.object({ ...members, secret: v.string() })]);
export type AttemptRequest = v.InferOutput<typeof AttemptRequest>;

/** What came of a request. The receiver's response is not part of it. */
export const AttemptResult = v.object({
  id: v.string(),
  at: v.number(),
  duration_ms: v.number(),
  status_code: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(999))),
  error: v.exactOptional(v.pipe(v.string(), v.maxLength(300))),
});
export type AttemptResult = v.InferOutput<typeof AttemptResult>;

/** Ports of the function that sends webhooks. */
export interface SendPorts {
  readonly webhookSecrets: Pick<SecretVault, "getAll">;
  readonly fetch: OutwardFetch;
  readonly now: () => number;
}

/** Sends each request once, and returns their results in the same order. */
export async function sendRequests(requests: readonly AttemptRequest[], ports: SendPorts): Promise<AttemptResult[]> {
  const secrets = await readSecrets(requests, ports);
  const results: AttemptResult[] = [];
  for (const batch of splitIntoBatches(requests, AT_ONCE)) {
    results.push(...(await Promise.all(batch.map((request) => send(request, secrets, ports)))));
  }
  return results;
}

async function readSecrets(
  requests: readonly AttemptRequest[],
  { webhookSecrets }: SendPorts,
): Promise<ReadonlyMap<string, string>> {
  const ofWebhooks = requests.filter((request) => "secret_id" in request);
  const byTeam = Map.groupBy(ofWebhooks, ({ team_uid }) => team_uid);
  const read = await Promise.all(
    [...byTeam].map(([team, some]) => webhookSecrets.getAll(team, [...new Set(some.flatMap(listSecretIds))])),
  );
  return new Map(read.flatMap((secrets) => [...secrets]));
}

/** The ids of the secrets that sign a request, the current one first. */
const listSecretIds = ({ secret_id, previous_secret_id: previous }: WebhookRequest): string[] =>
  previous === undefined ? [secret_id] : [secret_id, previous];

/** The secrets that sign a request; undefined where the current one is missing. */
function findSecrets(request: AttemptRequest, secrets: ReadonlyMap<string, string>): string[] | undefined {
  if ("secret" in request) return [request.secret];
  return secrets.has(request.secret_id) ? listSecretIds(request).flatMap((one) => secrets.get(one) ?? []) : undefined;
}

async function send(
  request: AttemptRequest,
  secrets: ReadonlyMap<string, string>,
  { fetch, now }: SendPorts,
): Promise<AttemptResult> {
  const { id, url, body } = request;
  const at = now();
  const signing = findSecrets(request, secrets);
  if (signing === undefined) return { id, at, duration_ms: 0, error: "the signing secret is missing" };
  try {
    const { status } = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "Runyard-Webhooks/1",
        ...signWebhook(signing, id, at, body),
      },
      body,
      ignoreBody: true,
    });
    return { id, at, duration_ms: Math.max(0, now() - at), status_code: status };
  } catch (error) {
    return { id, at, duration_ms: Math.max(0, now() - at), error: describeFailure(error) };
  }
}

/** Describes a failed request by a fixed sentence or the error's code: its message may contain what the receiver sent. */
function describeFailure(error: unknown): string {
  if (error instanceof BlockedAddress) return "the address is not on the internet";
  if (!(error instanceof Error)) return "the request failed";
  if (error.name === "TimeoutError" || error.name === "AbortError") return "no response within 10 seconds";
  const code = "code" in error ? String(error.code) : "";
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) && code !== "ABORT_ERR"
    ? `the connection failed: ${code}`
    : "the request failed";
}
