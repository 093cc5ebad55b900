import type { Message } from "#shared/wire/conversation.ts";

/** A background command of an earlier execution. */
export interface EarlierCommand {
  readonly id: string;
  /** The number in its id, which no other command of the conversation has. */
  readonly number: number;
  /** Redacted. */
  readonly command: string;
  /** Whether the conversation does not say yet that it has ended. */
  readonly isOpen: boolean;
}

/** Finds the background commands of earlier executions in the conversation. None of them is running any more. */
export function findEarlierCommands(messages: readonly Message[]): EarlierCommand[] {
  const inputs = new Map<string, unknown>();
  const found = new Map<string, EarlierCommand>();
  for (const { role, content } of messages) {
    for (const block of content) {
      if (block.type === "action") inputs.set(block.id, block.input);
      if (block.type === "text" && role === "system") {
        for (const [, id = ""] of block.text.matchAll(NAMED)) close(found, id);
      }
      if (block.type !== "action_result") continue;
      const id = readMember(block.output, "command_id");
      const [, number] = /^background-(\d{1,9})$/.exec(id) ?? [];
      if (number === undefined) continue;
      if (block.name === "run_command") {
        const command = readMember(inputs.get(block.action_id), "command");
        found.set(id, { id, number: Number(number), command, isOpen: true });
      }
      if (readMember(block.output, "state") === "ended") close(found, id);
    }
  }
  return [...found.values()];
}

/** Tells the agent which commands ended with the previous execution; undefined if there are none. */
export function describeLostCommands(earlier: readonly EarlierCommand[]): string | undefined {
  const lines = earlier
    .filter(({ isOpen }) => isOpen)
    .map(
      ({ id, command }) =>
        `The background command ${id} (${takeFirstLine(command)}) ended with the previous execution.`,
    );
  return lines.length === 0 ? undefined : [...lines, "Start again what you need."].join("\n");
}

const NAMED = /^The background command (background-\d{1,9}) /gm;
const MAX_LENGTH = 120;

function close(found: Map<string, EarlierCommand>, id: string): void {
  const command = found.get(id);
  if (command !== undefined) found.set(id, { ...command, isOpen: false });
}

const takeFirstLine = (command: string): string => (command.trim().split("\n")[0] ?? "").slice(0, MAX_LENGTH);

function readMember(value: unknown, name: string): string {
  const member: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === "string" ? member : "";
}
