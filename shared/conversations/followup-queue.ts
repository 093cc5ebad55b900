import type { Cursors } from "#shared/pagination/cursor.ts";
import { MAX_PAGE_BYTES, MAX_PAGE_ITEMS, type PageQuery } from "#shared/pagination/page.ts";
import { followupIdOf, parseFollowup, readText, type StoredFollowup } from "#shared/records/followup.ts";
import { toFollowupState } from "#shared/records/pending-followups.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { PageInfo } from "#shared/wire/list.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { FollowupItem } from "#shared/wire/runs/followup.ts";

/** The most bytes that a message has as JSON: 256 KiB of characters that are escaped with six each. */
const MAX_MESSAGE_BYTES = 6 * 262_144;
/** Bytes of what a follow-up has besides its message: 25 names of attachments among others. */
const MEMBER_BYTES = 16 * 1024;

type ListPorts = Pick<RunPorts, "runs" | "files"> & { readonly cursors: Cursors };

/** Reads a page of the follow-ups of a run as responses show them, in the order of their delivery. Reads no text of another page. */
export async function listFollowupPage(
  head: RunHead,
  query: PageQuery,
  ports: ListPorts,
): Promise<{ followups: FollowupItem[]; page_info?: PageInfo }> {
  const binding = ["followups", head.run_id];
  const after = query.cursor === undefined ? 0 : Number(await ports.cursors.read(binding, query.cursor));
  const limit = query.limit ?? MAX_PAGE_ITEMS;
  const items = head.followups > after ? await ports.runs.followupItems(head.run_id, after, limit) : [];
  const stored = cutToFit(items.map(parseFollowup));
  const followups = await Promise.all(
    stored.map(async (followup) => toFollowupItem(followup, await readText(followup, ports.files), head)),
  );
  const last = stored.at(-1)?.number ?? head.followups;
  const more = last < head.followups;
  if (!more && query.limit === undefined && query.cursor === undefined) return { followups };
  const next = more ? { next_cursor: await ports.cursors.write(binding, String(last)) } : {};
  return { followups, page_info: { has_next_page: more, ...next } };
}

/** The first follow-ups whose texts fit into one response, at least one. */
function cutToFit(followups: readonly StoredFollowup[]): readonly StoredFollowup[] {
  let bytes = 0;
  const end = followups.findIndex(({ message, message_bytes = MAX_MESSAGE_BYTES }, index) => {
    bytes += MEMBER_BYTES + (message === undefined ? message_bytes : Buffer.byteLength(JSON.stringify(message)));
    return bytes > MAX_PAGE_BYTES && index > 0;
  });
  return followups.slice(0, end < 0 ? followups.length : end);
}

/** Formats a follow-up as responses show it. */
export function toFollowupItem(followup: StoredFollowup, message: string, head: RunHead): FollowupItem {
  const { number, attachments = [], policy, mode, created_at, created_by } = followup;
  return {
    followup_id: followupIdOf(followup),
    number,
    message,
    attachments: attachments.map(({ attachment_id, file_name }) => ({ attachment_id, file_name })),
    ...(mode === undefined ? {} : { mode }),
    policy,
    created_at: toTimestamp(created_at),
    ...(created_by === undefined ? {} : { created_by }),
    state: toFollowupState(number, head),
  };
}
