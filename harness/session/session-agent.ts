import { describeLostCommands } from "../commands/earlier-commands.ts";
import { createShell } from "../commands/shell.ts";
import { type AgentEngine, RUNBOOK_MODEL } from "../engine/engine.ts";
import { cutBytes } from "../support/text-limits.ts";
import { throttle } from "../support/throttle.ts";
import { createTools, type SessionTools } from "../tools/agent-tools.ts";
import { addPush } from "./branch-pusher.ts";
import { createInterruptibleTurns, type InterruptibleTurns } from "./interruptible-turns.ts";
import { addOutputFormat } from "./output-format.ts";
import type { PreparedWorkspace } from "./prepared-workspace.ts";
import type { ResolvedRun } from "./resolved-run.ts";
import type { SessionChannel, SessionContext } from "./session-context.ts";

/** How long a turn runs before its work is saved, between two of its steps. */
const SAVE_MS = 5 * 60_000;
/** The longest detail of an event. */
const DETAIL_BYTES = 4096;

/** The agent of a session, with its engine and its tools. */
export interface SessionAgent {
  readonly engine: AgentEngine;
  readonly tools: SessionTools;
  readonly turns: InterruptibleTurns;
  /** The instructions of the run: its skills, then its prompt. */
  readonly instructions: readonly string[];
  /** Ends what was started for the engine, such as MCP servers. */
  close(): Promise<void>;
}

/** Creates the engine and the tools, and reports the start of the agent in the timeline. */
export async function startAgent(
  session: SessionContext,
  run: ResolvedRun,
  channel: SessionChannel,
  prepared: PreparedWorkspace,
): Promise<SessionAgent> {
  const { envelope, redactor, plane, log, stop } = session;
  const { resolved, context, secrets, workspace, sandbox, egress } = run;
  const { conversation, outbox, live, followups, slice } = channel;
  const { setup, runner, watch, background, workingDirectory } = prepared;
  const { signal } = stop;
  const turns = createInterruptibleTurns(followups);
  const instructions = [...setup.skills.map(({ body }) => body), resolved.prompt].filter((text) => text.trim() !== "");
  const { workspace: place, home, tmp, steps } = sandbox.paths;
  const shared = sandbox.helpers === undefined ? undefined : [place, home, tmp, steps];
  const shell = createShell({ runner, workingDirectory, slice, shared });
  const makeEngine = await run.makeEngine;
  const {
    engine,
    tools,
    instructionFiles = [],
    unusableSkills = [],
    close,
  } = await makeEngine({
    ...{
      envelope,
      context,
      secrets,
      plane,
      conversation,
      outbox,
      live,
      redactor,
      log,
      runner,
      shell,
      background,
      watch,
      sandbox,
      egress,
      workingDirectory,
      slice,
      signal,
    },
    basePrompt: addPush(addOutputFormat(resolved.system_prompt, context), context),
    opening: instructions,
    host: workspace.paths,
    clones: setup.clones,
    turn: turns.signal,
  });
  reportStart(run, outbox, { instructionFiles, unusableSkills });
  const lost = describeLostCommands(background.earlier);
  if (lost !== undefined) outbox.message({ role: "system", content: [{ type: "text", text: lost }] });
  const approvals = { rules: context.agent_config.approvals ?? [], workspace: sandbox.paths.workspace };
  const onStep = throttle(() => prepared.save({ always: true }), SAVE_MS);
  return {
    engine,
    tools: createTools({
      shell,
      background,
      outbox,
      live,
      redactor,
      slice,
      signal,
      turn: turns.signal,
      tools,
      onStep,
      approvals,
    }),
    turns,
    instructions,
    close,
  };
}

function reportStart(
  { context, modelId, sandbox }: ResolvedRun,
  outbox: SessionChannel["outbox"],
  found: { readonly instructionFiles: readonly string[]; readonly unusableSkills: readonly string[] },
): void {
  const unsupported = describeUnsupported(context.agent_config, modelId);
  outbox.event("agent_started", {
    detail: cutBytes(
      [`model ${modelId}, isolation: ${sandbox.kind}${unsupported}`, ...found.unusableSkills].join("; "),
      DETAIL_BYTES,
    ),
    isolation: sandbox.kind,
    ...(modelId === undefined ? {} : { model_id: modelId }),
    ...(found.instructionFiles.length === 0 ? {} : { instruction_files: [...found.instructionFiles] }),
  });
}

function describeUnsupported(config: ResolvedRun["context"]["agent_config"], modelId: string | undefined): string {
  const level = config.harness?.reasoning_level ?? config.reasoning_level;
  return [
    ...(config.computer_use_enabled === true ? [", computer use is not supported"] : []),
    ...(level !== undefined && !canReason(config.harness?.type, modelId)
      ? [", a reasoning level has no effect on this agent"]
      : []),
  ].join("");
}

/**
 * A level of the configuration has no effect on Gemini's agent and those of the Agent Client Protocol, which set their own, and on a model
 * that only runs commands.
 */
const canReason = (harness: string | undefined, modelId: string | undefined): boolean =>
  harness !== "gemini" && harness !== "acp" && modelId !== RUNBOOK_MODEL;
