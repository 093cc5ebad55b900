import { decideIsolation, toHarnessVariables } from "../host/isolation.ts";
import { Problem } from "../host/terminal.ts";
import { HarnessPrograms } from "../sandbox/harness-programs.ts";

/**
 * The programs that execute runs, with the isolation of their commands on this machine.
 * @throws Problem if there is no isolation and `isolates` requires it
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
