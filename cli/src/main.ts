#!/usr/bin/env node
import { EXIT } from "./exit-code.ts";
import { processShell } from "./process-shell.ts";
import { runCli } from "./program.ts";

process.stdout.on("error", (error) => {
  // The reader closed the pipe early, as `head` does: no message, as of programs that SIGPIPE ends. 0 would say that a followed run succeeded.
  if ("code" in error && error.code === "EPIPE") process.exit(EXIT.outputClosed);
  process.stderr.write(`error: The output cannot be written: ${error.message}\n`);
  process.exit(EXIT.failed);
});
process.exitCode = await runCli(processShell(), process.argv.slice(2));
