import { mkdir, rm } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import type { AttachedFile, Followup } from "#shared/wire/harness.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { downloadFile } from "../control-plane/transfer.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { cutBytesFromEnd } from "../support/text-limits.ts";

/** The directory of attachments in the workspace. */
const FOLDER = "attachments";
/** The longest name of a file on Linux. */
const NAME_BYTES = 255;
/** How many names are tried for a file, if others have them already. */
const MAX_NAMES = 9;
const PLACE_MS = 60_000;

/** Downloads the attachments of a new run, before its first command. @throws SetupError naming one that cannot be downloaded */
export async function downloadAttachments(
  attachments: readonly AttachedFile[],
  workspace: string,
  signal: AbortSignal,
): Promise<void> {
  const folder = join(workspace, FOLDER);
  await mkdir(folder, { recursive: true });
  const usedNames = new Set<string>();
  for (const attachment of attachments) {
    const { filename, download_url } = attachment;
    const name = listNames(attachment).find((one) => !usedNames.has(one)) ?? attachment.attachment_id;
    usedNames.add(name);
    try {
      await downloadFile(download_url, join(folder, name), signal);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      throw new SetupError(`attachment ${filename} could not be downloaded: ${error.message}`);
    }
  }
}

/** Names for a file, best first: without directories, and with the attachment's id where another file has that name. */
function listNames({ attachment_id, filename }: AttachedFile): string[] {
  const plain = basename(filename.replaceAll("\\", "/"));
  const others = Array.from({ length: MAX_NAMES }, (_, index) => {
    const prefix = `${attachment_id}-${index === 0 ? "" : `${index + 1}-`}`;
    return `${prefix}${cutBytesFromEnd(plain, NAME_BYTES - Buffer.byteLength(prefix))}`;
  });
  return ["", ".", ".."].includes(plain) ? others : [plain, ...others];
}

export interface AttachmentPlace {
  readonly runner: CommandRunner;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly signal: AbortSignal;
}

/**
 * Puts the attachments of a follow-up into the directory of attachments, without replacing a file, and names them in its message. One
 * that cannot be placed is named there with the reason.
 */
export async function receiveAttachments(followup: Followup, place: AttachmentPlace): Promise<Followup> {
  const { attachments = [], message } = followup;
  const names: string[] = [];
  const failures: string[] = [];
  for (const attachment of attachments) {
    try {
      names.push(JSON.stringify(await placeAttachment(attachment, place)));
    } catch (error) {
      place.signal.throwIfAborted();
      failures.push(`The attachment ${JSON.stringify(attachment.filename)} is not available: ${formatError(error)}.`);
    }
  }
  const found =
    names.length === 0 ? [] : [`Attached files are in ${place.seen.workspace}/${FOLDER}: ${names.join(", ")}.`];
  const parts = [message, ...found, ...failures].filter((part) => part !== "");
  return { ...followup, message: parts.join("\n\n") };
}

/**
 * Commands have run by now and may have replaced directories by links, so the file is copied inside the sandbox with the rights of
 * commands. Returns its name.
 */
async function placeAttachment(
  attachment: AttachedFile,
  { runner, host, seen, signal }: AttachmentPlace,
): Promise<string> {
  const copy = `runyard-${randomUUID()}`;
  const file = join(host.tmp, copy);
  try {
    await downloadFile(attachment.download_url, file, signal);
    const names = listNames(attachment);
    const script = [
      `mkdir -p -- ${quoteForShell(posix.join(seen.workspace, FOLDER))} && cd -- ${quoteForShell(posix.join(seen.workspace, FOLDER))} || exit`,
      "number=0",
      `for name in ${names.map((name) => quoteForShell(`./${name}`)).join(" ")}; do`,
      `  if [ ! -e "$name" ] && [ ! -L "$name" ]; then`,
      `    cp -- ${quoteForShell(posix.join(seen.tmp, copy))} "$name" && echo "placed $number"`,
      "    exit",
      "  fi",
      "  number=$((number + 1))",
      "done",
      'echo "all its names are taken"; exit 1',
    ].join("\n");
    const { exitCode, text } = await runner.run({
      command: script,
      workingDirectory: seen.tmp,
      timeoutMs: PLACE_MS,
      isHelper: true,
    });
    const name = names[Number(/^placed (\d+)$/m.exec(text)?.[1] ?? -1)];
    if (exitCode !== 0 || name === undefined) throw new Error(text.trim() || `exit code ${exitCode}`);
    return name;
  } finally {
    await rm(file, { force: true });
  }
}
