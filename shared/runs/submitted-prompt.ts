import { parseFollowup, readText, type StoredFollowup } from "#shared/records/followup.ts";
import { toFollowupState } from "#shared/records/pending-followups.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/** The most characters of a submitted prompt, of which the follow-ups may have more than one response can contain. */
const MAX_CHARACTERS = 1024 * 1024;

/** The follow-ups that are read; those of one run before its start are few. */
const MAX_EARLY = 100;

/**
 * Reads what was submitted before a run started: its prompt and the follow-ups until then, separated by blank lines. A follow-up that was
 * removed is not part of it.
 * @param most the characters that the caller shows
 */
export async function readSubmittedPrompt(
  head: RunHead,
  prompt: string,
  ports: Pick<RunPorts, "runs" | "files">,
  most = MAX_CHARACTERS,
): Promise<string> {
  if (head.followups === 0 || head.early_followups === 0) return prompt;
  const items = await ports.runs.followupItems(head.run_id, 0, MAX_EARLY);
  const early = items.map(parseFollowup).filter((followup) => isEarly(followup, head));
  let text = prompt;
  for (const followup of early) {
    if (text.length >= most) break;
    text = [text, await readText(followup, ports.files)].filter((part) => part !== "").join("\n\n");
  }
  return text;
}

function isEarly({ number, original = number, created_at }: StoredFollowup, head: RunHead): boolean {
  if (toFollowupState(number, head) === "removed") return false;
  const { early_followups, started_at } = head;
  if (early_followups !== undefined) return original <= early_followups;
  return started_at === undefined || created_at < started_at;
}
