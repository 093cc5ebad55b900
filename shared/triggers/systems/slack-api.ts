import * as v from "valibot";
import type { ApiAccess } from "./github-api.ts";
import { callApi, SystemFailure } from "./system-api.ts";

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
  const response = await callSlack(`users.info?user=${encodeURIComponent(user)}`, { user: UserInfo }, access);
  if (response === undefined) return false;
  const { team_id, deleted, is_bot, is_stranger, is_restricted, is_ultra_restricted } = response.user;
  return team_id === team && !(deleted || is_bot || is_stranger || is_restricted || is_ultra_restricted);
}

/** Errors by which Slack says that there is no such thing, as its other systems do with 404. */
const MISSING = ["user_not_found", "user_not_visible"];

/** Calls a method. Slack responds with 200 and an `error` to what it refuses; undefined where there is no such thing. */
async function callSlack<E extends v.ObjectEntries>(
  method: string,
  entries: E,
  { address, token, fetch }: ApiAccess,
): Promise<v.InferOutput<v.ObjectSchema<E, undefined>> | undefined> {
  const Refusal = v.object({ ok: v.literal(false), error: v.string() });
  const headers = { authorization: `Bearer ${token}` };
  const response = await callApi(
    { url: `${address}/${method}`, headers, schema: v.union([Refusal, v.object(entries)]), name: "Slack" },
    fetch,
  );
  const refusal = v.safeParse(Refusal, response);
  if (!refusal.success) return v.parse(v.object(entries), response);
  const { error } = refusal.output;
  if (MISSING.includes(error)) return undefined;
  throw new SystemFailure(`Slack refuses the request: ${/^[a-z_]{1,60}$/.test(error) ? error : "unknown"}`);
}
