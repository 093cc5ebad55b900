import { checkIsolation } from "./isolation/host.ts";

/** Prints what commands of this host can be isolated by, for whoever starts harnesses here. */
checkIsolation().then(
  (report) => process.stdout.write(`${JSON.stringify(report)}\n`),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);
