import { type ApprovalCall, type ApprovalRule, formatCall } from "#shared/wire/executions/approval.ts";
import type { Shell } from "../commands/shell.ts";
import { needsApproval, TurnEnd } from "../engine/approvals.ts";
import type { Tool } from "../engine/tool.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";

/** The longest call that a person is asked about. */
const CALL_BYTES = 16 * 1024;
const SUMMARY_BYTES = 700;

export interface RequestOptions {
  readonly rules: readonly ApprovalRule[];
  readonly shell: Pick<Shell, "here">;
  readonly redactor: Pick<Redactor, "text">;
  /** Records the call, which has no result yet. */
  readonly begin: (id: string, tool: Pick<Tool, "name" | "category">, input: unknown, said?: string) => unknown;
}

/** A call before it is carried out. */
export interface AskedUse {
  readonly id: string;
  readonly input: unknown;
  readonly said?: string | undefined;
}

/**
 * Ends the turn where a call needs an approval. What a person approves is what they see, so a call that the conversation cannot show whole
 * is refused.
 * @returns why the call is refused; undefined where it needs no approval
 * @throws TurnEnd
 */
export function requestApproval(
  tool: Pick<Tool, "name" | "category">,
  { id, input, said }: AskedUse,
  { rules, shell, redactor, begin }: RequestOptions,
): string | undefined {
  if (!isObject(input) || !needsApproval(rules, tool.name, input)) return undefined;
  // The execution that carries the call out may start elsewhere.
  const exact = tool.name === "run_command" ? { working_directory: shell.here, ...input } : input;
  const call: ApprovalCall = { action_id: id, tool: tool.name, input: exact };
  const text = formatCall(call);
  if (Buffer.byteLength(text) > CALL_BYTES)
    return `${NEEDED}, and calls of more than 16 KB cannot be approved: ${SHORTER}`;
  if (redactor.text(text) !== text || toWellFormed(text) !== text)
    return `${NEEDED}, and it contains a secret value or characters that cannot be shown: ${NO_SECRETS}`;
  begin(id, tool, exact, said);
  const { command = JSON.stringify(input) } = exact;
  const description = cutBytes(`${tool.name}: ${String(command)}`, SUMMARY_BYTES);
  throw new TurnEnd({
    success: false,
    blocked: true,
    summary: `Waiting for approval of ${description}`,
    approval: call,
  });
}

const NEEDED = "the call needs a person's approval";
const SHORTER = "put long content into a file, and name that";
const NO_SECRETS = "use the variable that holds the value instead";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
