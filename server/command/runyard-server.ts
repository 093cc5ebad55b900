#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";
import { packageProgram } from "./program.ts";

/** The first Node that sets `import.meta.main`. On an older one, the program would end successfully and do nothing. */
const MINIMUM_NODE = [24, 2] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
/** `runyard-server` of the package: the commands of the single machine. */
if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
  process.stderr.write(
    `runyard-server needs Node ${MINIMUM_NODE.join(".")} or newer, and this is Node ${process.versions.node}.\n` +
      "Install a newer Node: https://nodejs.org\n",
  );
  process.exitCode = 1;
} else if (import.meta.main) {
  process.exitCode = await runCommandLine(process.argv.slice(2), packageProgram);
}
