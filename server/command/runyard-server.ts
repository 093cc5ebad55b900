#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";
import { packageProgram } from "./program.ts";

/** `runyard-server` of the package: the commands of the single machine. */
if (import.meta.main) {
  process.exitCode = await runCommandLine(process.argv.slice(2), packageProgram(process.env));
}
