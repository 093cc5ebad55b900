import { checkIsolation } from "./isolation/host.ts";

/** Prints which isolation this host supports, for the program that starts harnesses on it. */
checkIsolation().then(
  (report) => process.stdout.write(`${JSON.stringify(report)}\n`),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
