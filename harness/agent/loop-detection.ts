import type { Message } from "#shared/wire/conversation.ts";
import { createHash } from "../support/lazy-crypto.ts";

/** How often similar uses of a tool may have the same result in a row until the agent is told. */
const SIMILAR_USES = 8;
/** How often a pattern of tool uses repeats in a row until the agent is told, by the number of uses in it. */
const REPEATS = [
  { uses: 1, told: 4 },
  { uses: 2, told: 4 },
  { uses: 3, told: 4 },
];
/** The turn ends when the pattern has repeated this many times as often. */
const ENDS_AFTER = 2;
/** As often, the text next to different tool uses may be the same. */
const SAME_TEXTS = 6;
/** A response repeats itself if its end occurs this often in it. */
const PASSAGE_CHARACTERS = 80;
const SAME_PASSAGES = 12;
/** Members of inputs and results that differ between uses of a tool that are the same. */
const IRRELEVANT = new Set(["timeout_seconds", "timeout", "duration_ms"]);
/** These tools are used again with the same result while others work. */
const WAITING = new Set(["wait_for_agents", "read_command"]);
/** So are commands that sleep and take at least this long, such as one that looks at a build each minute. */
const SLEEP = /\bsleep\b/;
const SLEEP_MS = 10_000;

/** What to do about a repetition. */
export interface Repetition {
  /** Whether it goes on after the agent was told, so that the turn ends. */
  readonly ends: boolean;
  /** What repeats, as a clause. */
  readonly what: string;
}

export interface ToolUsed {
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly isError?: boolean;
  /** The text of the model next to the use. */
  readonly said?: string;
}

/** Notices that an agent does the same again and again. A use is the same only if its result is the same too. */
export class LoopDetector {
  readonly #uses: string[] = [];
  #similar = { use: "", times: 0 };
  #text = "";
  #sameTexts = 0;

  /** Takes the tool uses of this turn that earlier executions made. */
  constructor(turn: readonly Message[] = []) {
    const inputs = new Map<string, unknown>();
    for (const block of turn.flatMap(({ content }) => content)) {
      if (block.type === "action") inputs.set(block.id, block.input);
      if (block.type === "action_result")
        this.observe({
          name: block.name,
          input: inputs.get(block.action_id),
          output: block.output,
          isError: block.state === "failed",
        });
    }
  }

  /** Takes one more use. Returns a repetition when the agent has to be told of it, and when the turn has to end. */
  observe(used: ToolUsed): Repetition | undefined {
    const { name, input, output, said } = used;
    if (isWait(used)) return undefined;
    this.#uses.push(digest({ name, input, output }));
    const similar = this.#observeSimilar(used);
    return this.#findPattern() ?? similar ?? (said === undefined ? undefined : this.#observeText(said));
  }

  #observeSimilar(used: ToolUsed): Repetition | undefined {
    const use = describeSimilar(used);
    this.#similar = { use, times: use !== "" && use === this.#similar.use ? this.#similar.times + 1 : 1 };
    const { times } = this.#similar;
    const kind =
      used.isError === true ? "the same error" : "the same result, with inputs that differ in numbers alone,";
    const what = `${used.name} had ${kind} ${times} times in a row`;
    if (times >= SIMILAR_USES * ENDS_AFTER) return { ends: true, what };
    return times === SIMILAR_USES ? { ends: false, what } : undefined;
  }

  #findPattern(): Repetition | undefined {
    for (const { uses, told } of REPEATS) {
      const repeats = this.#countRepeats(uses);
      const what =
        uses === 1
          ? `the same use of a tool had the same result ${Math.floor(repeats)} times in a row`
          : `the same ${uses} uses of tools, with the same results, alternated ${Math.floor(repeats)} times`;
      if (repeats >= told * ENDS_AFTER) return { ends: true, what };
      if (repeats === told) return { ends: false, what };
    }
    return undefined;
  }

  /** How often the last uses occur in a row; not a whole number while a pattern is incomplete. */
  #countRepeats(period: number): number {
    const uses = this.#uses;
    const last = uses.slice(-period);
    // A pattern of equal uses is a shorter pattern.
    if (period > 1 && new Set(last).size === 1) return 0;
    let length = Math.min(period, uses.length);
    while (length < uses.length && uses.at(-1 - length) === uses.at(-1 - length + period)) length++;
    return length / period;
  }

  #observeText(said: string): Repetition | undefined {
    this.#sameTexts = said === this.#text ? this.#sameTexts + 1 : 1;
    this.#text = said;
    const what = `the same text preceded ${this.#sameTexts} uses of tools in a row`;
    if (this.#sameTexts >= SAME_TEXTS * ENDS_AFTER) return { ends: true, what };
    return this.#sameTexts === SAME_TEXTS ? { ends: false, what } : undefined;
  }
}

function isWait({ name, input, output }: ToolUsed): boolean {
  const { command }: { command?: unknown } = Object(input);
  const { duration_ms }: { duration_ms?: unknown } = Object(output);
  const sleeps = typeof command === "string" && SLEEP.test(command) && Number(duration_ms) >= SLEEP_MS;
  return WAITING.has(name) || sleeps;
}

/** Passes on the uses of calls that run at the same time in the order in which they began, once all have ended. */
export function createCallOrder(observe: (used: ToolUsed) => void) {
  const open = new Map<string, ToolUsed | undefined>();
  return {
    begin: (id: string) => void open.set(id, undefined),
    end(id: string, used: ToolUsed) {
      open.set(id, used);
      const ended = [...open.values()];
      if (ended.includes(undefined)) return;
      open.clear();
      for (const one of ended) if (one !== undefined) observe(one);
    },
  };
}

/** Whether a response says the same passage again and again. */
export function repeatsItself(text: string): boolean {
  const passage = text.slice(-PASSAGE_CHARACTERS);
  return new Set(passage.trim()).size > 2 && text.split(passage).length > SAME_PASSAGES;
}

/**
 * Describes a use so that it equals uses that bring the agent no further: those with the same error, and those with the same output whose
 * inputs differ in numbers alone, such as a counter. Empty for a command without output, since many useful commands print nothing.
 */
function describeSimilar({ name, input, output, isError }: ToolUsed): string {
  const { stdout }: { stdout?: unknown } = Object(output);
  const isSilent = typeof stdout === "string" && stdout.trim() === "";
  if (isSilent || (isError !== true && stdout === undefined)) return "";
  return digest({
    name,
    output,
    ...(isError === true ? {} : { input: JSON.stringify(input ?? "").replace(/\d+/g, "0") }),
  });
}

function digest(value: unknown): string {
  const text = JSON.stringify(value, (name, member) => (IRRELEVANT.has(name) ? undefined : member));
  return createHash("sha256").update(text).digest("hex");
}
