import { seededRandom } from "../shared/random.ts";

/** What is killed, by who works there. */
export const KINDS = ["endpoint", "dispatcher", "reaper", "end", "sandbox", "harness", "command"] as const;
export type Kind = (typeof KINDS)[number];

/** How often each kind is chosen, of a hundred. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  endpoint: 36,
  dispatcher: 16,
  reaper: 8,
  end: 10,
  sandbox: 10,
  harness: 12,
  command: 8,
};

/** One kill. Which process it meets depends on what is there; all else on the seed. */
export interface Strike {
  readonly number: number;
  /** Milliseconds after the one before. */
  readonly afterMs: number;
  readonly kind: Kind;
  /** Which of the matching processes, in the order of their ids; counted round where there are fewer. */
  readonly nth: number;
  /** Milliseconds from the moment that the process is seen at work. */
  readonly delayMs: number;
}

const LEAST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1_800;
const MAX_DELAY_MS = 40;

/** The kills of a seed, without an end. */
export function* strikesOf(seed: number): Generator<Strike, never> {
  const random = seededRandom(seed);
  for (let number = 1; ; number++) {
    yield {
      number,
      afterMs: LEAST_PAUSE_MS + Math.floor(random() * (MAX_PAUSE_MS - LEAST_PAUSE_MS)),
      kind: weighted(WEIGHTS, random()),
      nth: Math.floor(random() * 64),
      delayMs: Math.floor(random() * MAX_DELAY_MS),
    };
  }
}

/** What callers have done, and what they do about it afterwards. */
const TASKS = {
  /** One short command. */
  short: 36,
  /** A command of some seconds, so that heartbeats are due. */
  long: 14,
  /** Two commands, the second of which writes a file. */
  file: 10,
  /** A prompt that is too long for the table, and an attachment. */
  large: 10,
  /** A command that fails. */
  failing: 4,
  /** Cancelled soon after. */
  cancelled: 8,
  /** With a follow-up while it works. */
  steered: 6,
  /** With a follow-up after it has ended. */
  revived: 6,
  /** With a child, which its caller makes. */
  parent: 6,
} as const;
export type TaskKind = keyof typeof TASKS;

export interface Task {
  readonly number: number;
  readonly kind: TaskKind;
  /** Milliseconds from the run's creation to what its caller does next. */
  readonly thinkMs: number;
  /** True where the caller sends the request once more although it was answered. */
  readonly repeats: boolean;
}

/** What the callers of a seed ask for, `count` runs without the children. */
export function tasksOf(seed: number, count: number): Task[] {
  const random = seededRandom(seed ^ 0x5bd1e995);
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    kind: weighted(TASKS, random()),
    thinkMs: 300 + Math.floor(random() * 2_500),
    repeats: random() < 0.1,
  }));
}

function weighted<K extends string>(weights: Readonly<Record<K, number>>, draw: number): K;
function weighted(weights: Readonly<Record<string, number>>, draw: number): string {
  const entries = Object.entries(weights);
  let left = draw * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  throw new RangeError(`a draw is below 1, not ${draw}`);
}
