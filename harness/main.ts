import { text } from "node:stream/consumers";
import { prepareHost } from "./isolation/host.ts";
import { closeInherited } from "./isolation/processes.ts";
import { runSession } from "./session/run-session.ts";
import { Stop } from "./support/stop.ts";

/** How often the harness looks for its parent process. */
const PARENT_MS = 1_000;

async function main(): Promise<number> {
  closeInherited();
  // Start this first: creating the sandbox starts other processes, which work while this one waits for its envelope.
  const host = prepareHost();
  const stop = new AbortController();
  const end = (why: string) => stop.abort(new Stop("shutdown", why));
  process.on("SIGTERM", () => end("the sandbox was terminated"));
  // A terminal sends these to the parent process, too, which ends or keeps its executions.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  // The parent process may be killed, which also closes the output pipe. An execution must not outlive it.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end("the process that ran the sandbox is gone"), PARENT_MS).unref();
  process.stdout.on("error", () => {});

  const envelope = await text(process.stdin);
  if (envelope === "") {
    // It was started ahead, and no run needed it.
    await (await host).close();
    return 0;
  }
  const input: unknown = JSON.parse(envelope);
  return await runSession(input, host, stop);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    // Without the error's own message, which could quote a part of the envelope.
    const message = error instanceof SyntaxError ? "standard input is not JSON" : String(error);
    process.stderr.write(`${JSON.stringify({ level: "error", message })}\n`);
    process.exit(1);
  },
);
