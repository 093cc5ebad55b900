import { join } from "node:path";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { type InsideFile, openInside } from "../files/path-containment.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import { hashFile } from "../reporting/artifact-collector.ts";

export interface PackerOptions {
  /** Packs and unpacks inside the sandbox: the files of a workspace, and archives of them, are untrusted. */
  readonly runner: CommandRunner;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly deadlineAt: number;
  /** @default commands cannot change the root that they see */
  readonly layer?: Sandbox["layer"];
  /** Called with what could not be read and is missing in the archive, or could not be restored from it, redacted. */
  readonly reportMissing: (files: readonly string[], step: "saved" | "restored") => void;
  /** The largest archive. @default 1 GiB */
  readonly maxBytes?: number;
  /** The largest apparent size of the files before they are packed, including holes of sparse files. @default 4 GiB */
  readonly maxApparentBytes?: number;
}

interface Archive {
  /** Its file name in the temporary directory. */
  readonly name: string;
  /** The directory that it contains, as commands see it. */
  readonly directory: string;
  /** Options of tar for both ways. @default none */
  readonly options?: string;
  /** Commands before the files are unpacked. @default none */
  readonly before?: string;
}

/** The archive of a workspace, by whose name another execution of the run finds it. */
export const WORKSPACE_ARCHIVE = "workspace.tar.gz";
/** The archive of what commands changed in the root of their image. */
const LAYER_ARCHIVE = "root.tar.gz";
/** Which files of the image are deleted is in their attributes. The addresses of name servers are those of this execution. */
const LAYER_OPTIONS = "--xattrs --xattrs-include='user.overlay.*' --preserve-permissions --exclude=./etc/resolv.conf";
/** What the harness has written to a new root would be in the way of files and links of the archive. */
const CLEAR_LAYER = "find . -mindepth 1 ! -path ./etc ! -path ./etc/resolv.conf -delete";
export const ARCHIVE_TYPE = "application/gzip";

const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_APPARENT_BYTES = 4 * 1024 * 1024 * 1024;
const PACK_MS = 5 * 60_000;
/** Exit code of the pack command when the files are too large. */
const TOO_LARGE = 74;

/** Packs and unpacks a directory of the run by commands in the sandbox. `archive` is the path of the file on the host. */
function createPacker(options: PackerOptions, { name, directory, options: tarOptions = "", before = ":" }: Archive) {
  const {
    runner,
    host,
    seen,
    deadlineAt,
    reportMissing,
    maxBytes = MAX_BYTES,
    maxApparentBytes = MAX_APPARENT_BYTES,
  } = options;
  const archive = join(host.tmp, name);
  const packed = quoteForShell(join(seen.tmp, name));
  const inSandbox = async (command: string) => {
    const timeoutMs = Math.max(1, Math.min(PACK_MS, deadlineAt - Date.now()));
    const entered = `cd -- ${quoteForShell(directory)}\n${command}`;
    const options = { workingDirectory: seen.workspace, timeoutMs, isHelper: true };
    const { exitCode, text } = await runner.run({ command: entered, ...options });
    if (exitCode === TOO_LARGE)
      throw new Error(
        `the files of the workspace have more than ${maxApparentBytes} bytes, including holes of sparse files`,
      );
    if (exitCode !== 0) throw new Error(`tar ended with exit code ${exitCode}: ${text.trim().slice(-500)}`);
    return text;
  };
  const pack = async () => {
    // Exit code 1 means that a file changed while it was read, which is acceptable: no command of the agent is running.
    const printed = await inSandbox(
      [
        `rm -rf ${packed}`,
        refuseAbove(maxApparentBytes),
        `tar --create ${GNU_OPTIONS} ${tarOptions} --gzip --file=${packed} . || [ $? -eq 1 ]`,
      ].join("\n"),
    );
    const unreadable = [...printed.matchAll(UNREADABLE)].map(([, file, why]) => `${file}: ${why}`);
    if (unreadable.length > 0) reportMissing(unreadable, "saved");
    const opened = await openInside(host.tmp, archive);
    if (opened.sizeBytes <= maxBytes) return opened;
    await opened[Symbol.asyncDispose]();
    throw new Error(`the workspace has more than ${maxBytes} bytes when packed`);
  };
  const unpack = async () => {
    // Each file that cannot be created, such as one whose path is too long, is left out; whatever else fails ends with an exit code.
    const printed = await inSandbox(
      [
        before,
        `complaints=$(LC_ALL=C tar --extract ${tarOptions} --gzip --file=${packed} 2>&1 | ${SHORTEN}) && code=0 || code=$?`,
        `if [ $code -eq 2 ] && ! grep -qvE ${quoteForShell(LEFT_OUT)} <<< "$complaints"; then code=0; fi`,
        `printf '%s\\n' "$complaints" >&2; exit $code`,
      ].join("\n"),
    );
    const missing = [...printed.matchAll(UNCREATABLE)].map(([, file, why]) => `${file}: ${why}`);
    if (missing.length > 0) reportMissing(missing, "restored");
  };
  return { name, archive, pack, unpack };
}

/** Packs and unpacks these directories, and what commands changed in the root of their image if they can change it. */
export function createPackers(options: PackerOptions, archives: readonly Archive[]) {
  const { layer } = options;
  const packers = archives.map((archive) => createPacker(options, archive));
  if (layer === undefined) return packers;
  const ofLayer = { name: LAYER_ARCHIVE, directory: layer.seen, options: LAYER_OPTIONS, before: CLEAR_LAYER };
  const packer = createPacker(options, ofLayer);
  const unpack = async () => {
    await packer.unpack();
    await layer.remount();
  };
  return [...packers, { ...packer, unpack }];
}

/** Describes an archive as a file of a snapshot. */
export const describeArchive = async (filename: string, { path, sizeBytes }: InsideFile) => ({
  filename,
  mime_type: ARCHIVE_TYPE,
  size_bytes: sizeBytes,
  sha256: await hashFile(path),
});

/**
 * Shell commands that exit if the files are too large to pack. A sparse file uses almost no disk, but the time to pack it depends on
 * its apparent size. GNU and BSD have different options for that size.
 */
const refuseAbove = (bytes: number): string =>
  [
    "kib=$({ du -s -k --apparent-size . 2>/dev/null || du -s -k -A . 2>/dev/null || true; } | tail -n 1 | cut -f 1)",
    `if [ "\${kib:-0}" -gt ${Math.floor(bytes / 1024)} ]; then exit ${TOO_LARGE}; fi`,
  ].join("\n");

/**
 * Makes GNU tar ask the file system for holes instead of reading them, and go on after a file that it cannot read. Other versions have no
 * such options or do so by default.
 */
const GNU_OPTIONS =
  "$(tar --version 2>/dev/null | grep -q GNU && echo --sparse --hole-detection=seek --ignore-failed-read || true)";
/** How GNU and BSD tar report what they could not read and left out. */
const UNREADABLE = /^tar: (?:\.\/)?(.+): (?:Warning: Cannot \w+: |Couldn't )(.+)$/gm;

/** Leaves out the middle of long lines: hundreds of paths that are too long to be created take more memory than a command may have. */
const SHORTEN =
  "if command -v awk >/dev/null; then LC_ALL=C awk 'length > 800 { $0 = substr($0, 1, 500) \"…\" substr($0, length - 199) } 1'; else cat; fi";

/** How GNU tar reports that it could not create a file, and in the end that there was one. */
const LEFT_OUT =
  "^tar: (.+: Cannot .+: (File name too long|Operation not permitted|Permission denied)|Exiting with failure status due to previous errors)$";
const UNCREATABLE = /^tar: (?:\.\/)?(.+): Cannot .+: (File name too long|Operation not permitted|Permission denied)$/gm;
