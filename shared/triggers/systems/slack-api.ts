import * as v from "valibot";
import { toBlocks } from "./slack-blocks.ts";
import { type ApiAccess, callApi, SystemFailure } from "./system-api.ts";
import type { Place, PutReply, ReadThread, SystemResult } from "./system-request.ts";

/** Messages of a thread in which one is looked for: the most that Slack returns at once. */
const MAX_MESSAGES = 999;

const Flag = v.optional(v.boolean(), false);
const UserInfo = v.object({
  team_id: v.string(),
  deleted: Flag,
  is_bot: Flag,
  is_stranger: Flag,
  is_restricted: Flag,
  is_ultra_restricted: Flag,
});

/**
 * Whether an account is a full member of a workspace: no guest, no bot, and not of another workspace.
 * @see https://docs.slack.dev/reference/methods/users.info
 */
export async function hasSlackAccess(team: string, user: string, access: ApiAccess): Promise<boolean> {
  const method = `users.info?user=${encodeURIComponent(user)}`;
  const response = await callSlack({ method, entries: { user: UserInfo }, ignored: UNKNOWN_USER }, access);
  if (response === undefined) return false;
  const { team_id, deleted, is_bot, is_stranger, is_restricted, is_ultra_restricted } = response.user;
  return team_id === team && !(deleted || is_bot || is_stranger || is_restricted || is_ultra_restricted);
}

const UNKNOWN_USER = ["user_not_found", "user_not_visible"];
const DELETED_MESSAGE = ["message_not_found", "cant_update_message"];

/** @see https://docs.slack.dev/reference/methods/reactions.add */
export async function reactOnSlack({ container, item }: Place, access: ApiAccess): Promise<void> {
  const body = { channel: container, timestamp: item, name: "eyes" };
  await callSlack({ method: "reactions.add", body, entries: {}, ignored: ["already_reacted"] }, access);
}

const EVENT_TYPE = "runyard_reply";

/**
 * Posts the message of a run in its thread, or changes it. One that a person has deleted stays deleted.
 * @see https://docs.slack.dev/reference/methods/chat.postMessage and https://docs.slack.dev/messaging/message-metadata
 */
export async function putSlackReply(reply: PutReply, access: ApiAccess): Promise<string> {
  const { container: channel, item: thread_ts } = reply.place;
  const metadata = { event_type: EVENT_TYPE, event_payload: { nonce: reply.nonce } };
  const { text, buttons } = reply;
  const content = { text, ...(buttons === undefined ? {} : { blocks: toBlocks(text, buttons) }), metadata };
  const ts = reply.post_id ?? (await findMessage(reply, access));
  if (ts !== undefined) {
    const body = { channel, ts, ...content };
    await callSlack({ method: "chat.update", body, entries: {}, ignored: DELETED_MESSAGE }, access);
    return ts;
  }
  const body = { channel, thread_ts, ...content, unfurl_links: false, unfurl_media: false };
  const posted = await callSlack({ method: "chat.postMessage", body, entries: { ts: v.string() } }, access);
  if (posted === undefined) throw new SystemFailure("Slack's response is not as documented");
  return posted.ts;
}

/** Messages of a thread that a prompt has, and characters of each. */
const MAX_CONTEXT = 20;
const MAX_CONTEXT_TEXT = 2_000;
const Context = v.object({ ts: v.string(), user: v.optional(v.string()), text: v.optional(v.string(), "") });

/**
 * Reads the messages of a thread before one of them: at most 20, the latest ones.
 * @see https://docs.slack.dev/reference/methods/conversations.replies
 */
export async function readSlackThread(
  { place, before }: ReadThread,
  access: ApiAccess,
): Promise<NonNullable<SystemResult["messages"]>> {
  const query = new URLSearchParams({
    channel: place.container,
    ts: place.item,
    latest: before,
    limit: String(MAX_MESSAGES),
  });
  const entries = { messages: v.array(Context) };
  const found = await callSlack({ method: `conversations.replies?${query}`, entries }, access);
  return (found?.messages ?? [])
    .filter(({ ts }) => ts !== before)
    .slice(-MAX_CONTEXT)
    .map(({ user = "an application", text }) => ({
      author: user,
      text: text.slice(0, MAX_CONTEXT_TEXT).toWellFormed(),
    }));
}

const Message = v.object({
  ts: v.string(),
  metadata: v.optional(v.object({ event_payload: v.optional(v.record(v.string(), v.unknown()), {}) })),
});

/** Finds the message of a post whose response was lost. */
async function findMessage({ place, posted_since, nonce }: PutReply, access: ApiAccess): Promise<string | undefined> {
  if (posted_since === undefined) return undefined;
  const query = new URLSearchParams({
    channel: place.container,
    ts: place.item,
    oldest: String(Math.floor(Date.parse(posted_since) / 1000)),
    limit: String(MAX_MESSAGES),
    include_all_metadata: "true",
  });
  const entries = { messages: v.array(Message), has_more: v.optional(v.boolean(), false) };
  const found = await callSlack({ method: `conversations.replies?${query}`, entries }, access);
  const own = found?.messages.find(({ metadata }) => metadata?.event_payload["nonce"] === nonce);
  if (own === undefined && found?.has_more === true) {
    throw new SystemFailure("there are too many messages in Slack to find the one of this run");
  }
  return own?.ts;
}

interface SlackCall<E extends v.ObjectEntries> {
  /** The method with its query. */
  readonly method: string;
  readonly body?: object;
  readonly entries: E;
  /** Errors after which there is no result, and nothing to repeat. */
  readonly ignored?: readonly string[];
}

const Refusal = v.object({ ok: v.literal(false), error: v.string() });

/** Calls a method. Slack responds with 200 and an `error` to what it refuses. */
async function callSlack<E extends v.ObjectEntries>(
  { method, body, entries, ignored = [] }: SlackCall<E>,
  { address, token, fetch }: ApiAccess,
): Promise<v.InferOutput<v.ObjectSchema<E, undefined>> | undefined> {
  const response = await callApi(
    {
      ...(body === undefined ? {} : { method: "POST", body }),
      url: `${address}/${method}`,
      headers: { authorization: `Bearer ${token}` },
      schema: v.union([Refusal, v.object({ ok: v.literal(true), ...entries })]),
      name: "Slack",
    },
    fetch,
  );
  const refusal = v.safeParse(Refusal, response);
  if (!refusal.success) return v.parse(v.object(entries), response);
  const { error } = refusal.output;
  if (ignored.includes(error)) return undefined;
  throw new SystemFailure(`Slack refuses the request: ${/^[a-z_]{1,60}$/.test(error) ? error : "unknown"}`);
}
