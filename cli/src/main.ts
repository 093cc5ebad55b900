#!/usr/bin/env node
import { processShell } from "./process-shell.ts";
import { runCli } from "./program.ts";

// Whoever reads the output may have had enough, as `head` does: that is no failure.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit(0);
  throw error;
});
process.exitCode = await runCli(processShell(), process.argv.slice(2));
