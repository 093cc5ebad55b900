import { fileKeys } from "#shared/files/file-store.ts";
import type { StoredAttachment } from "#shared/records/run-body.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type ReceivedEvent, toTemplateEvent } from "./event.ts";

const TYPE = "application/json";

/** Stores an event as a file of a run, where the agent finds what the prompt leaves out. It is deleted with the run. */
export async function storeEventFile(
  run: string,
  delivery: string,
  file_name: string,
  event: ReceivedEvent,
  { files }: Pick<RunPorts, "files">,
): Promise<StoredAttachment> {
  const content = Buffer.from(JSON.stringify(toTemplateEvent(event), null, 2));
  const file = fileKeys.followupAttachment(run, delivery);
  await files.put(file, content, TYPE);
  return { attachment_id: delivery, file_name, mime_type: TYPE, file, size_bytes: content.length };
}
