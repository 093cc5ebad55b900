import { dim, Problem, red, seconds } from "../../server/host/terminal.ts";

/** A benchmark as a command. */
interface Benchmark<O, R> {
  readonly help: string;
  /** Returns a message if the arguments are wrong, and the help if they request it. */
  parse(args: string[]): O | string;
  measure(options: O): Promise<R>;
  toBudgets(report: R): unknown;
  print(report: R): void;
}

/** Runs a benchmark and prints its report. Resolves with the exit code. */
export async function runBenchmark<O extends { readonly json: boolean }, R extends object>(
  { help, parse, measure, toBudgets, print }: Benchmark<O, R>,
  args: string[],
): Promise<number> {
  const options = parse(args);
  if (typeof options === "string") {
    console.error(options);
    return options === help ? 0 : 2;
  }
  const began = performance.now();
  try {
    const report = await measure(options);
    if (options.json) console.log(JSON.stringify({ ...report, budgets: toBudgets(report) }, null, 2));
    else print(report);
    console.error(dim(`took ${seconds(performance.now() - began)}`));
    return 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(red(error.message));
    for (const detail of error.details) console.error(`  ${detail}`);
    return 1;
  }
}
