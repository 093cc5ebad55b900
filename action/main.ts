import { runAction } from "./action.ts";

/** What a runner sends when the job is cancelled, the second some seconds after the first. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

process.exitCode = await runAction({
  env: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  onCancel: (listener) => {
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  },
});
