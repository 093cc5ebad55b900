import * as v from "valibot";
import { Id, textOfBytes } from "../primitives.ts";

/** The tools of the built-in agent, by their names in the conversation. Tools of MCP servers are called by `call_mcp_tool`. */
export const AGENT_TOOLS = [
  "ask_user",
  "call_mcp_tool",
  "create_plan",
  "create_pull_request",
  "edit_files",
  "get_mcp_prompt",
  "glob",
  "load_skill",
  "message_agent",
  "notify_user",
  "read_command",
  "read_files",
  "read_mcp_resource",
  "report_artifact",
  "run_command",
  "search_files",
  "start_agent",
  "stop_command",
  "todo",
  "wait_for_agents",
  "web_fetch",
  "write_command",
] as const;

/** Calls of the agent that wait for a person's approval: those of a tool, or those whose command or arguments contain a text. */
const ApprovalRule = v.object({
  /** The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`. */
  tool: v.picklist(AGENT_TOOLS),
  /**
   * A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line
   * breaks and several spaces count as one space. Defaults to every call of the tool.
   */
  match: v.exactOptional(textOfBytes(1024, 1)),
});
export type ApprovalRule = v.InferOutput<typeof ApprovalRule>;

export const MAX_APPROVALS = 20;
/** The rules of a run. */
export const Approvals = v.pipe(v.array(ApprovalRule), v.maxLength(MAX_APPROVALS));

/** The exact call of a tool that waits for an approval. */
export const ApprovalCall = v.object({
  /** The id of the call in the conversation. */
  action_id: Id,
  /** The tool's name. */
  tool: textOfBytes(512, 1),
  /** The arguments of the call. */
  input: v.record(v.string(), v.unknown()),
});
export type ApprovalCall = v.InferOutput<typeof ApprovalCall>;

/** What a person decided about a call. */
export const ApprovalDecision = v.object({
  /** Whether the call is approved. */
  approved: v.boolean(),
  /** SHA-256 of the call as the person saw it. */
  digest: v.string(),
  /** The name of the person who decided. */
  by: v.string(),
});
export type ApprovalDecision = v.InferOutput<typeof ApprovalDecision>;

/** The call that a run waits for as responses show it. */
export const Approval = v.object({
  /** The id of the request, for `approve` or `deny` of a follow-up. */
  approval_id: v.string(),
  /** The tool's name. */
  tool: v.string(),
  /** The beginning of the arguments as JSON. */
  arguments: v.string(),
  /** The id of the call in the conversation, which has the complete arguments. */
  action_id: v.string(),
});
export type Approval = v.InferOutput<typeof Approval>;

/** The text that the digest of a call is made of: equal for equal calls, whatever the order of their members. */
export const formatCall = ({ action_id, tool, input }: ApprovalCall): string =>
  JSON.stringify([action_id, tool, sortMembers(input)]);

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}
