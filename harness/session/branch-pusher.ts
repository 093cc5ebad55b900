import { join } from "node:path";
import { MAX_PACK_BYTES } from "#shared/wire/executions/push-branch.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { type ControlPlane, Refused } from "../control-plane/control-plane.ts";
import { uploadFile } from "../control-plane/transfer.ts";
import type { TurnOutcome } from "../engine/engine.ts";
import { assignClonePaths, type Clone } from "../git/clone.ts";
import { type CloneScriptOptions, runCloneScript } from "../git/clone-script.ts";
import { writePackScript } from "../git/pack-script.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { hashFile } from "../reporting/artifact-collector.ts";
import type { RunContext } from "../setup/run-context.ts";
import type { Log } from "../support/log.ts";
import { formatError } from "../support/stop.ts";

interface PushOptions extends CloneScriptOptions {
  readonly plane: Pick<ControlPlane, "pushBranch">;
  readonly redactor: Redactor;
  readonly clones: readonly Clone[];
  readonly context: Pick<RunContext, "push" | "agent_config">;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Requests that the service pushes the commits of a run to the branch of its pull request. The harness never has the credential. */
export interface BranchPusher {
  /**
   * Checks out the branch in a workspace that an earlier execution has left, which may have opened the pull request from another branch.
   * Files that it changed and did not commit stay as they are.
   */
  checkOut(): Promise<void>;
  /** Pushes the commits of a turn that has not failed. Returns a sentence about the push, or an empty string if there was none. */
  push(ended: TurnOutcome): Promise<string>;
}

const PACK = "runyard-push/objects.pack";
const PACK_TYPE = "application/x-git-packed-objects";
const SHORT = 12;
const CHECK_OUT_MS = 60_000;

export function createBranchPusher(options: PushOptions): BranchPusher {
  const { context, clones, redactor, signal, log } = options;
  const { push: target, agent_config } = context;
  const place = [...assignClonePaths(agent_config.repositories ?? [])].find(([, { url }]) => url === target?.url)?.[0];
  const clone = clones.find(({ path }) => path === place);
  /** The last commit that was pushed. */
  let pushed: string | undefined;
  return {
    async checkOut() {
      if (target === undefined || clone === undefined) return;
      const branch = quoteForShell(target.branch);
      const command = `[ "$(git symbolic-ref --quiet --short HEAD)" = ${branch} ] || git checkout --quiet ${branch} --`;
      const workingDirectory = join(options.seen.workspace, clone.path);
      const request = { command, workingDirectory, timeoutMs: CHECK_OUT_MS, isHelper: true };
      const { exitCode, text } = await options.runner.run(request);
      if (exitCode !== 0) log("warn", "the branch was not checked out", { detail: redactor.text(text) });
    },

    async push(ended) {
      const isKept = ended.success || ended.blocked === true;
      if (target === undefined || clone === undefined || !isKept) return "";
      try {
        const commit = await pushClone(clone, target.branch, pushed ?? clone.commit, options);
        if (commit === undefined) return "";
        pushed = commit;
        return ` Pushed ${commit.slice(0, SHORT)} to ${target.branch}.`;
      } catch (error) {
        signal.throwIfAborted();
        const detail = redactor.text(error instanceof Refused ? error.detail : formatError(error));
        log("warn", "commits were not pushed", { detail });
        return ` Not pushed to ${target.branch}: ${detail}.`;
      }
    },
  };
}

/** Tells the agent how its commits reach the pull request. */
export function addPush(prompt: string | undefined, { push }: Pick<RunContext, "push">): string | undefined {
  if (push === undefined) return prompt;
  const text = `You work on a pull request, whose branch ${JSON.stringify(push.branch)} is checked out. Commit your changes to this branch: they are pushed when your \
turn ends. You have no credential to push, and need none. The push is never forced, so do not rewrite commits that the branch has.`;
  return prompt === undefined ? text : `${text}\n\n${prompt}`;
}

/** Returns the commit that the branch has then; undefined if there was nothing to push. */
async function pushClone(
  clone: Clone,
  branch: string,
  base: string,
  options: PushOptions,
): Promise<string | undefined> {
  const { plane, seen, signal } = options;
  const repository = join(seen.workspace, clone.path);
  const write = (pack: string) => writePackScript({ repository, branch, base, pack });
  return await runCloneScript(options, { file: PACK, write }, async (output, open) => {
    const commit = /^head ([0-9a-f]{40})$/m.exec(output)?.[1];
    if (commit === undefined) return undefined;
    await using file = await open();
    if (file.sizeBytes > MAX_PACK_BYTES) throw new Error(`the commits have more than ${MAX_PACK_BYTES} bytes`);
    const request = { commit, size_bytes: file.sizeBytes, sha256: await hashFile(file.path) };
    const { upload } = await plane.pushBranch(request);
    if (upload !== undefined) {
      await uploadFile(upload, file.path, PACK_TYPE, signal);
      await plane.pushBranch(request);
    }
    return commit;
  });
}
