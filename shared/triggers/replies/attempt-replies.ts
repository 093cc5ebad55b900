import { splitIntoBatches } from "#shared/arrays.ts";
import { RunyardError } from "#shared/errors.ts";
import type { FindOwner } from "#shared/github/installation-store.ts";
import { sha256 } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { nextAttemptAt } from "#shared/webhooks/attempt-deliveries.ts";
import type { DeliveryRef } from "#shared/webhooks/webhook-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { type Credential, readCredential, requestSystem } from "../systems/credential.ts";
import type { Systems } from "../systems/system-request.ts";
import { type RenderedReply, type RenderPorts, renderReply } from "./render-reply.ts";
import { type Reply, replyStore } from "./reply-store.ts";

/** Milliseconds for which an attempt has a reply: more than two calls of a system take. */
const CLAIM_MS = 90_000;
/** Replies that are attempted together, and milliseconds after which no further ones are begun. */
const AT_ONCE = 20;
const BEGIN_MS = 30_000;
/** Milliseconds by which the clock of the other system may be behind ours. */
const SKEW_MS = 60_000;
/** Times that one attempt shows events which have come meanwhile. */
const MAX_REPEATS = 3;

/** Ports of the consumer that attempts replies. */
export interface ReplyPorts extends RenderPorts {
  readonly now: () => number;
  readonly systems: Systems;
  readonly ownerOf: FindOwner;
}

/** Has the comments of runs show their present state, unless another attempt has them. Returns the number of those attempted. */
export async function attemptReplies(refs: readonly DeliveryRef[], ports: ReplyPorts): Promise<number> {
  const deadline = ports.now() + BEGIN_MS;
  const store = replyStore(ports.table);
  let count = 0;
  for (const some of splitIntoBatches(refs, AT_ONCE)) {
    if (ports.now() >= deadline) break;
    const checkTimes = new Map(some.map(({ webhook_uid, check_at }) => [webhook_uid, check_at]));
    const due = (await store.getMany([...checkTimes.keys()])).filter(
      ({ run_id, check_at }) => check_at !== undefined && checkTimes.get(run_id) === check_at,
    );
    await Promise.all(due.map((reply) => attemptOne(reply, ports)));
    count += due.length;
  }
  return count;
}

async function attemptOne(reply: Reply, ports: ReplyPorts): Promise<void> {
  const store = replyStore(ports.table);
  const now = ports.now();
  const mayBePosted = reply.post_id === undefined ? reply.posted_since : undefined;
  let claimed = await store.claim(reply, { now, until: now + CLAIM_MS });
  if (claimed === undefined) return;
  try {
    let since = mayBePosted;
    for (let repeat = 0; repeat < MAX_REPEATS; repeat++) {
      const posted = await post(claimed, since, ports);
      if (await store.record(claimed, posted)) return;
      const [changed] = await store.getMany([reply.run_id]);
      // It was deleted, or another attempt has it.
      if (changed === undefined || changed.check_at !== claimed.check_at) return;
      [claimed, since] = [changed, undefined];
    }
  } catch (error) {
    const failure = describeFailure(error);
    logLine("warn", "a reply could not be sent", { run_id: reply.run_id, trigger_uid: reply.trigger_uid, error });
    await store.postpone(claimed, failure, nextAttemptAt(claimed.tries + 1, ports.now()));
  }
}

const describeFailure = (error: unknown): string =>
  error instanceof RunyardError ? error.message : "the service failed for a time";

type Posted = Pick<Reply, "post_id" | "sha" | "posted">;

/** Shows the state of the run, unless the comment does. */
async function post(reply: Reply, postedSince: number | undefined, ports: ReplyPorts): Promise<Posted> {
  const rendered = await renderReply(reply, ports);
  if (rendered === undefined) return {};
  const digest = sha256(JSON.stringify(rendered));
  if (digest === reply.posted) return {};
  const credential = await readCredential(reply, ports);
  const { post_id } = await requestSystem(ports.systems, {
    action: "put_reply",
    ...credential,
    place: reply.place,
    text: rendered.text,
    ...(rendered.buttons === undefined ? {} : { buttons: rendered.buttons }),
    nonce: reply.nonce,
    ...(reply.post_id === undefined ? {} : { post_id: reply.post_id }),
    ...(postedSince === undefined ? {} : { posted_since: toTimestamp(postedSince - SKEW_MS) }),
  });
  const sha = await setStatus(reply, rendered, credential, ports);
  return { posted: digest, ...(post_id === undefined ? {} : { post_id }), ...(sha === undefined ? {} : { sha }) };
}

/**
 * Sets the check run of the head commit, or its status, since only an App can set a check run. A token that may not set one is no failure:
 * the comment says the same.
 */
async function setStatus(
  { place, pull, sha, nonce, installation_id }: Reply,
  { status, check }: RenderedReply,
  credential: Credential,
  ports: ReplyPorts,
): Promise<string | undefined> {
  if (pull === undefined || status === undefined || check === undefined) return undefined;
  const target = { ...credential, repository: place.container, pull, ...(sha === undefined ? {} : { sha }) };
  const { context: name, description: title, url } = status;
  const checkRun = { name, title, external_id: nonce, ...check, ...(url === undefined ? {} : { url }) };
  const result = await ports.systems.call(
    installation_id === undefined
      ? { action: "set_status", ...target, ...status }
      : { action: "set_check", ...target, ...checkRun },
  );
  if (result.failure !== undefined) logLine("warn", "a commit has no status", { pull, reason: result.failure });
  return result.sha;
}
