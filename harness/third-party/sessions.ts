import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { downloadFile, uploadFile } from "../control-plane/transfer.ts";
import { openInside } from "../files/path-containment.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { createHash } from "../support/lazy-crypto.ts";
import type { Log } from "../support/log.ts";
import { formatError } from "../support/stop.ts";
import type { CommandLineAgent, Session } from "./agent.ts";

/** Keeps an agent's session from one execution to the next: its file is the conversation's raw transcript. */
export interface Sessions {
  /**
   * Restores the session from the conversation's raw transcript. Returns undefined if there is none, if it belongs to another agent, or if
   * it could not be restored.
   */
  restore(): Promise<string | undefined>;
  /** Stores the session's file. @throws when it could not be stored */
  save(session: string): Promise<void>;
}

export interface SessionOptions {
  readonly agent: CommandLineAgent;
  readonly conversationId: string;
  readonly plane: Pick<ControlPlane, "externalConversation" | "transcriptTarget" | "transcriptUrl">;
  /** Copies inside the sandbox: files in HOME belong to commands and may be links to anywhere. */
  readonly runner: CommandRunner;
  readonly redactor: Redactor;
  readonly log: Log;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly workingDirectory: string;
  readonly signal: AbortSignal;
}

const FILE = "runyard-transcript.jsonl";
/** The largest transcript that is stored. */
const MAX_BYTES = 64 * 1024 * 1024;
const COPY_MS = 60_000;
const MIME_TYPE = "application/x-ndjson";

export function createSessions(options: SessionOptions): Sessions {
  const { agent, plane, runner, redactor, log, host, seen, workingDirectory, signal } = options;
  const file = join(host.tmp, FILE);
  const inside = quoteForShell(join(seen.tmp, FILE));
  const clean = () => removeTree(file);
  let isDeclared = false;

  const inSandbox = async (command: string) => {
    const { exitCode, text } = await runner.run({
      command,
      workingDirectory: seen.workspace,
      timeoutMs: COPY_MS,
      isHelper: true,
    });
    if (exitCode !== 0) throw new Error(`the session could not be copied: ${text.trim().slice(-500)}`);
  };
  const read = async (): Promise<string> => {
    await using opened = await openInside(host.tmp, file);
    if (opened.sizeBytes > MAX_BYTES) throw new Error(`the session has more than ${MAX_BYTES} bytes`);
    return await readFile(opened.path, "utf8");
  };
  return {
    async restore() {
      const url = await plane.transcriptUrl();
      if (url === undefined) return undefined;
      try {
        await clean();
        await downloadFile(url, file, signal);
        const session: Session | undefined = agent.parseSession(await read(), workingDirectory);
        if (session === undefined) return undefined;
        const place = `"$HOME"/${session.path}`;
        await inSandbox(`mkdir -p "$(dirname ${place})" && cp ${inside} ${place}`);
        return session.id;
      } catch (error) {
        signal.throwIfAborted();
        log("warn", "the agent's session was not restored", { detail: formatError(error) });
        return undefined;
      } finally {
        await clean();
      }
    },
    async save(session) {
      try {
        await inSandbox(`rm -rf ${inside}; cp "$(ls -S ${agent.sessionFiles(session)} | head -n 1)" ${inside}`);
        const text = redactor.text(await read());
        await clean();
        await writeFile(file, text, { flag: "wx" });
        if (!isDeclared) await plane.externalConversation(agent.name);
        isDeclared = true;
        const described = {
          conversation_id: options.conversationId,
          size_bytes: Buffer.byteLength(text),
          sha256: createHash("sha256").update(text).digest("hex"),
        };
        await using written = await openInside(host.tmp, file);
        await uploadFile(await plane.transcriptTarget(described), written.path, MIME_TYPE, signal);
        // The second call confirms the upload.
        await plane.transcriptTarget(described);
      } finally {
        await clean();
      }
    },
  };
}
