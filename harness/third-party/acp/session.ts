import * as v from "valibot";
import type { Message } from "#shared/wire/conversation.ts";
import type { RunContext } from "../../setup/run-context.ts";
import type { TurnInput } from "../agent.ts";

/** The version of the protocol that the harness speaks. */
export const PROTOCOL_VERSION = 1;

export const Initialized = v.looseObject({
  protocolVersion: v.number(),
  agentCapabilities: v.optional(
    v.looseObject({
      loadSession: v.optional(v.boolean()),
      mcpCapabilities: v.optional(v.looseObject({ http: v.optional(v.boolean()) })),
    }),
  ),
});
export const Opened = v.looseObject({ sessionId: v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)) });
export const Prompted = v.looseObject({ stopReason: v.string() });

export const PermissionParams = v.looseObject({
  toolCall: v.optional(v.looseObject({ kind: v.nullish(v.string()) })),
  options: v.array(v.looseObject({ optionId: v.string(), kind: v.optional(v.string()) })),
});
type Permission = v.InferOutput<typeof PermissionParams>;
/** The kinds of calls that plan mode allows. */
const READING = new Set(["read", "search", "think", "fetch"]);

/**
 * Answers a request for permission: the sandbox is the boundary, so every call is allowed once, but in plan mode those alone that say that
 * they only read.
 */
export function answerPermission({ toolCall, options }: Permission, mode: RunContext["mode"]): object {
  const isAllowed = mode !== "plan" || READING.has(toolCall?.kind ?? "");
  const kinds = isAllowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const option = kinds.flatMap((kind) => options.find((one) => one.kind === kind) ?? []).at(0);
  return {
    outcome: option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId },
  };
}

/** Converts the run's MCP servers. Returns the names of those that the agent cannot call. */
export function toAcpServers(servers: TurnInput["mcpServers"], hasHttp: boolean) {
  const toList = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  const converted = servers.flatMap(([name, { address }]): object[] => {
    if ("command" in address) return [{ name, command: address.command, args: address.args, env: toList(address.env) }];
    return hasHttp ? [{ type: "http", name, url: address.url, headers: toList(address.headers) }] : [];
  });
  const refused = servers.flatMap(([name, { address }]) => ("url" in address && !hasHttp ? [name] : []));
  return { converted, refused };
}

/** Name of the event that names the session of a conversation. */
const SESSION = "acp_session";
const SessionMark = v.object({ session_id: v.string(), command: v.string() });

export const toSessionMark = (session_id: string, command: string): Message => ({
  role: "system",
  content: [{ type: "event", name: SESSION, data: { session_id, command } }],
});

/** Finds the session that the same command has opened before. */
export function findSession(conversation: readonly Message[], command: string): string | undefined {
  const blocks = conversation.flatMap(({ content }) => content);
  const mark = blocks.findLast((block) => block.type === "event" && block.name === SESSION);
  const parsed = mark?.type === "event" ? v.safeParse(SessionMark, mark.data) : undefined;
  return parsed?.success === true && parsed.output.command === command ? parsed.output.session_id : undefined;
}
