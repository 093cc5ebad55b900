import { runCommandLine } from "./command-line.ts";
import { checkoutProgram } from "./program.ts";

/** `npm start`: serves the API on this machine until it is stopped. */
if (import.meta.main) {
  process.exitCode = await runCommandLine(process.argv.slice(2), checkoutProgram);
}
