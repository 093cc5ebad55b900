import { ConcurrentToolExecutor, SequentialToolExecutor } from "@strands-agents/sdk";

type Options = Parameters<ConcurrentToolExecutor["execute"]>[0];
type Input = Parameters<ConcurrentToolExecutor["execute"]>[1];
type Uses = Input["toolUseBlocks"];

/** The most calls that run at the same time. */
const MAX_PARALLEL = 8;

/** Executes the calls of a response in order, and neighbours that only read at the same time. The order of their results is that of the calls. */
export class CallExecutor extends ConcurrentToolExecutor {
  readonly #sequential = new SequentialToolExecutor();
  readonly #parallel: ReadonlySet<string>;

  /** @param parallel the names of the tools that only read */
  constructor(parallel: ReadonlySet<string>) {
    super();
    this.#parallel = parallel;
  }

  override async *execute(options: Options, input: Input): ReturnType<ConcurrentToolExecutor["execute"]> {
    for (const toolUseBlocks of this.#divide(input.toolUseBlocks)) {
      const batch = { ...input, toolUseBlocks };
      // Only the sequential executor skips calls of a turn that has been stopped.
      const isParallel = toolUseBlocks.length > 1 && !options.cancelSignal.aborted;
      yield* isParallel ? super.execute(options, batch) : this.#sequential.execute(options, batch);
    }
  }

  #divide(uses: Uses): Uses[] {
    const batches: Uses[number][][] = [];
    for (const use of uses) {
      const last = batches.at(-1);
      const [first] = last ?? [];
      const joins = this.#parallel.has(use.name) && first !== undefined && this.#parallel.has(first.name);
      if (joins && last !== undefined && last.length < MAX_PARALLEL) last.push(use);
      else batches.push([use]);
    }
    return batches;
  }
}
