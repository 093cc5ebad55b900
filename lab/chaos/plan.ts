import { seededRandom } from "../../shared/random.ts";

/** The kinds of processes that are killed. */
export const KINDS = [
  "service",
  "worker",
  "endpoint",
  "dispatcher",
  "reaper",
  "end",
  "sandbox",
  "harness",
  "command",
] as const;
export type Kind = (typeof KINDS)[number];

/** How often each kind is chosen, in percent. */
type Weights = Readonly<Record<Kind, number>>;

/** On one machine: the process of the service, with everything that it executes, self-hosted workers, harnesses, and commands. */
export const MACHINE_WEIGHTS: Weights = {
  service: 18,
  worker: 16,
  harness: 38,
  command: 28,
  endpoint: 0,
  dispatcher: 0,
  reaper: 0,
  end: 0,
  sandbox: 0,
};

/** In the deployment: the processes of functions, harnesses, and commands. */
export const DEPLOYMENT_WEIGHTS: Weights = {
  service: 0,
  worker: 0,
  endpoint: 36,
  dispatcher: 16,
  reaper: 8,
  end: 10,
  sandbox: 10,
  harness: 12,
  command: 8,
};

/** One kill. The process depends on which ones exist; everything else depends on the seed. */
export interface Strike {
  readonly number: number;
  /** Milliseconds after the previous one. */
  readonly afterMs: number;
  readonly kind: Kind;
  /** Index of the process among the matching ones, in the order of their ids, modulo their number. */
  readonly nth: number;
  /** Milliseconds from when the process is first seen. */
  readonly delayMs: number;
  /** Whether it gets SIGTERM, after which it ends in order, instead of SIGKILL. @default false */
  readonly terminates?: boolean;
}

/** The kinds that get SIGTERM too. Functions of AWS get no signal. */
const SIGNALLED: readonly Kind[] = ["service", "worker", "harness"];
/** A kind gets SIGTERM instead of SIGKILL every so many times. */
const TERMINATED_EVERY = 3;
const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1_800;
const MAX_DELAY_MS = 40;

/**
 * Generates the endless sequence of kills of a seed. It begins with each kind that has a weight, by each of its signals, in any order, so
 * that a short test has all of them.
 */
export function* generateStrikes(seed: number, weights: Weights): Generator<Strike, never> {
  const random = seededRandom(seed);
  const counts = new Map<Kind, number>();
  const first = shuffle(listWays(weights), random);
  for (let number = 1; ; number++) {
    const afterMs = MIN_PAUSE_MS + Math.floor(random() * (MAX_PAUSE_MS - MIN_PAUSE_MS));
    const draw = weighted(weights, random());
    const count = (counts.get(draw) ?? 0) + 1;
    counts.set(draw, count);
    const { kind, terminates } = first[number - 1] ?? {
      kind: draw,
      terminates: SIGNALLED.includes(draw) && count % TERMINATED_EVERY === 0,
    };
    yield {
      ...{ number, afterMs, kind },
      ...(terminates ? { terminates } : {}),
      nth: Math.floor(random() * 64),
      delayMs: Math.floor(random() * MAX_DELAY_MS),
    };
  }
}

interface Way {
  readonly kind: Kind;
  readonly terminates: boolean;
}

const listWays = (weights: Weights): Way[] =>
  KINDS.filter((kind) => weights[kind] > 0).flatMap((kind) => [
    { kind, terminates: false },
    ...(SIGNALLED.includes(kind) ? [{ kind, terminates: true }] : []),
  ]);

function shuffle<T>(values: readonly T[], random: () => number): T[] {
  const rest = [...values];
  return values.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}

/** The kinds of tasks that callers perform, and how often each is chosen, in percent. */
const TASKS = {
  /** One short command. */
  short: 22,
  /** A command of a few seconds, so that heartbeats are due. */
  long: 10,
  /** Two commands, the second of which writes a file. */
  file: 10,
  /** A prompt that is too long for the table, and an attachment. */
  large: 10,
  /** A command that fails. */
  failing: 4,
  /** Cancelled shortly after its creation. */
  cancelled: 8,
  /** With a follow-up while it is active. */
  steered: 6,
  /** With a follow-up after it has ended. */
  revived: 6,
  /** With a child, which the caller creates. */
  parent: 6,
  /** Executed by a self-hosted worker, as are follow-ups before and after its end. Without workers, as any other. */
  worker: 10,
  /** With a follow-up that is cancelled by force, and another one that needs the files of the first turn. */
  forced: 6,
  /** Executed by its caller, who uploads a file and cancels the run by force, without confirming the file. */
  uploaded: 6,
} as const;
export type TaskKind = keyof typeof TASKS;

export interface Task {
  readonly number: number;
  readonly kind: TaskKind;
  /** Milliseconds from the run's creation to the caller's next request. */
  readonly thinkMs: number;
  /** Whether the caller repeats the request although it got a response. */
  readonly repeats: boolean;
}

/** Generates the tasks of a seed: `count` runs, not counting children. */
export function generateTasks(seed: number, count: number): Task[] {
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
  let remaining = draw * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    remaining -= weight;
    if (remaining < 0) return name;
  }
  throw new RangeError(`a draw is below 1, not ${draw}`);
}
