import type { FileStore } from "#shared/files/file-store.ts";
import { followupIdOf, parseFollowup, readText, type StoredFollowup } from "#shared/records/followup.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Followup } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { toAttachedFiles } from "./attached-files.ts";

/** Reads follow-ups above `stored`, in order. */
export async function readFollowups(
  { run_id, followups_cancelled }: RunHead,
  stored: number,
  ports: Pick<RunPorts, "runs" | "files">,
): Promise<Followup[]> {
  const items = await ports.runs.followupItems(run_id, stored);
  const present = items.map(parseFollowup).filter(({ deleted }) => deleted !== true);
  const followups = await Promise.all(present.map((followup) => toFollowup(followup, ports.files)));
  return followups.map((it) => (it.number > followups_cancelled ? it : { ...it, cancelled: true }));
}

async function toFollowup(followup: StoredFollowup, files: FileStore): Promise<Followup> {
  const { number, policy, created_at, decision } = followup;
  const message = await readText(followup, files);
  const attachments = await toAttachedFiles(followup.attachments ?? [], files);
  return {
    number,
    followup_id: followupIdOf(followup),
    message,
    ...(attachments.length === 0 ? {} : { attachments }),
    policy,
    created_at: toTimestamp(created_at),
    ...(decision === undefined ? {} : { decision }),
  };
}
