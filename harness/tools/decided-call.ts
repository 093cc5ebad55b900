import type { Block, Message } from "#shared/wire/conversation.ts";
import type { ApprovalCall } from "#shared/wire/executions/approval.ts";
import type { BackgroundCommands } from "../commands/background-commands.ts";
import type { Shell } from "../commands/shell.ts";
import { type DecidedCall, digestCall, findDecidedCall } from "../engine/approvals.ts";
import type { ToolUse } from "../engine/engine.ts";
import type { StepDiff, Tool, ToolResult } from "../engine/tool.ts";
import { moveToWorkspace } from "../isolation/workspace.ts";
import { formatError } from "../support/stop.ts";
import { createRunCommandTool } from "./run-command.ts";

/** Records the result of a call. */
export type ReportEnd = (state: ResultState, output: unknown, diff?: StepDiff) => void;
type ResultState = Extract<Block, { type: "action_result" }>["state"];

/** What carries out or refuses the call that a person has decided about. */
export interface DecidedCallOptions {
  readonly tools: readonly Tool[];
  readonly shell: Shell;
  readonly background: BackgroundCommands;
  /** The path of the workspace as commands see it. */
  readonly workspace: string;
  /** Saves that the call begins, so that no execution begins it again. */
  readonly saveStart: () => Promise<unknown>;
  /** Returns a function that records the results of the call. */
  readonly report: (id: string, tool: Tool, input: unknown) => ReportEnd;
  /** Carries the call out and records its result. */
  readonly carryOut: (tool: Tool, use: ToolUse, reportEnd: ReportEnd) => Promise<ToolResult>;
}

/**
 * Carries out the call that a person has approved, once: that it begins is saved before. Any other answer denies it. It has a result
 * afterwards, so that it is settled for all executions.
 */
export async function settleDecidedCall(conversation: readonly Message[], options: DecidedCallOptions): Promise<void> {
  const decided = findDecidedCall(conversation);
  if (decided === undefined || (decided.state !== undefined && decided.state !== "running")) return;
  const { call } = decided;
  const tool = findTool(call, options);
  const report = options.report(call.action_id, tool, call.input);
  const refuse = (error: string, state: "failed" | "denied" = "failed") => report(state, { error });
  if (decided.state === "running") return refuse(UNKNOWN);
  const denial = describeDenial(decided);
  if (denial !== undefined) return refuse(denial, "denied");
  report("running", {});
  try {
    await options.saveStart();
  } catch (error) {
    return refuse(`not carried out, because its start could not be saved: ${formatError(error)}`);
  }
  await options.carryOut(tool, { id: call.action_id, input: placeIn(call.input, options.workspace) }, report);
}

const UNKNOWN =
  "approved and begun, but interrupted with an unknown result: check the state before you ask for it again";

/** Why the call is not carried out. */
function describeDenial({ call, decision, message }: DecidedCall): string | undefined {
  const wish = "It was not carried out. Do not try to reach the same by another way.";
  if (decision === undefined) return `denied, because the user answered something else: ${message}\n${wish}`;
  if (!decision.approved) return `denied by ${decision.by}: ${message}\n${wish}`;
  return decision.digest === digestCall(call)
    ? undefined
    : "not carried out: what was approved is a different call. Ask for it again.";
}

/** The runbook has no tools of its own; its commands are calls of this one. */
function findTool({ tool: name }: ApprovalCall, { tools, shell, background }: DecidedCallOptions): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  const runCommand = createRunCommandTool(shell, background);
  return name === "run_command"
    ? runCommand
    : {
        ...runCommand,
        name,
        run: async () => ({ isError: true, output: { error: `there is no tool ${name} any more` } }),
      };
}

/** The workspace of this execution may have another path than that of the one that asked. */
const placeIn = (input: ApprovalCall["input"], workspace: string): ApprovalCall["input"] =>
  typeof input["working_directory"] === "string"
    ? { ...input, working_directory: moveToWorkspace(input["working_directory"], workspace) }
    : input;
