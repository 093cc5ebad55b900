import { decideIsolation, toHarnessVariables } from "../host/isolation.ts";
import { Problem } from "../host/terminal.ts";
import { HarnessPrograms } from "../sandbox/harness-programs.ts";

/**
 * The programs that execute runs, with what isolates its commands on this machine.
 * @throws Problem if nothing does, and `isolates` demands it
 */
export async function harnessPrograms(isolates: boolean): Promise<HarnessPrograms> {
  const decided = await decideIsolation(isolates ? process.env["RUNYARD_SANDBOX"] : "none");
  if (decided.isolation === "none" && isolates && process.env["RUNYARD_SANDBOX"] !== "none") {
    throw new Problem("Runs are not executed without isolation.", [
      "Install bubblewrap, or use --no-sandbox if everybody in the team may run commands as this user.",
    ]);
  }
  return new HarnessPrograms(toHarnessVariables(decided));
}
