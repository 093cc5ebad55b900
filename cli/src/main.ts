#!/usr/bin/env node
import { processShell } from "./process-shell.ts";
import { runCli } from "./program.ts";

// The reader of the output may close the pipe early, as `head` does, which is not an error.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit(0);
  process.stderr.write(`error: The output cannot be written: ${error.message}\n`);
  process.exit(1);
});
process.exitCode = await runCli(processShell(), process.argv.slice(2));
