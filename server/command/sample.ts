import { localPaths } from "../host/paths.ts";
import { complain, Problem, red, say, warn } from "../host/terminal.ts";
import { servesOtherMachines } from "../http/allowed-hosts.ts";
import type { LocalState } from "./local-state.ts";
import type { ServeOptions } from "./options.ts";
import type { Program } from "./program.ts";

/** Executes the sample run and prints what it does. Resolves with false if it does not succeed. */
export async function runSample(
  { repo, runTests, host }: ServeOptions,
  { home }: Program,
  state: LocalState,
  signal: AbortSignal,
): Promise<boolean> {
  if (servesOtherMachines(state.web_url, host)) {
    warn(
      "The sample run is omitted: it needs a repository on this disk, which runs of a server for other machines cannot read.",
    );
    return true;
  }
  const { sampleSource } = await import("../host/sample/sample-repository.ts");
  const { sampleRun } = await import("../host/sample/sample-run.ts");
  try {
    const source = await sampleSource({ ...localPaths(process.env), home }, repo);
    const succeeded = await sampleRun({ baseUrl: state.base_url, key: state.api_key, signal }, source, runTests);
    say();
    return succeeded;
  } catch (error) {
    if (signal.aborted) return false;
    complain(red(error instanceof Error ? error.message : String(error)));
    if (error instanceof Problem) for (const detail of error.details) complain(`  ${detail}`);
    return false;
  }
}
