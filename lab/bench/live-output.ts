/**
 * `npm run lab -- bench-live`: measures live output on a single-machine server of its own: how late a line reaches a reader, and what a
 * reader costs a command that writes 100 MB in ten seconds.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Runyard } from "../../clients/typescript/src/index.ts";
import { dim, seconds } from "../../server/host/terminal.ts";
import { describeMachine, load } from "./machine.ts";
import { listProcessTree } from "./memory.ts";
import { type BenchServer, startServer, stateDirectory } from "./single/server.ts";
import { readUsage } from "./single/usage.ts";
import { calculateSpread, quantile } from "./statistics.ts";

const LINES = 12;
/** Prints lines with the time at which each was printed. */
const SLOW = `for i in $(seq ${LINES}); do echo "line $i $(date +%s%3N)"; sleep 1; done`;
/** Prints 100 MB, one megabyte every 100 ms by the clock. A megabyte that comes late is followed by the next one at once. */
const FAST = [
  'line=$(printf "x%.0s" $(seq 98))',
  "start=${EPOCHREALTIME/./}",
  "for i in $(seq 100); do",
  '  { yes "$line" || true; } | head -c 1000000',
  "  left=$((start + i * 100000 - ${EPOCHREALTIME/./}))",
  '  if [ "$left" -gt 0 ]; then sleep "$(printf "0.%06d" "$left")"; fi',
  "done",
].join("\n");

const SAMPLE_MS = 200;

const { values } = parseArgs({
  options: { readers: { type: "string", default: "50" }, pairs: { type: "string", default: "5" } },
});

const createRun = async (client: Runyard, script: string): Promise<string> => {
  const prompt = `\`\`\`sh\n${script}\n\`\`\``;
  return (await client.runs.create({ prompt, config: { model_id: "local/runbook" } })).run_id;
};

/** Returns how late each line reached a reader, in milliseconds. */
async function readLags(client: Runyard, run: string): Promise<number[]> {
  const lags: number[] = [];
  let open = "";
  for await (const item of client.runs.stream(run)) {
    if (item.kind !== "live") continue;
    const lines = (open + item.frame.text).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) lags.push(Date.now() - Number(line.split(" ").at(-1)));
  }
  return lags;
}

/** What one run with much output took. */
interface Fast {
  readonly commandMs: number;
  /** Processor time of the server, and of the execution with its command. */
  readonly serverMs: number;
  readonly executionMs: number;
  readonly harnessMb: number;
  readonly frames: number;
}

async function runFast(client: Runyard, { pid }: BenchServer, isWatched: boolean): Promise<Fast> {
  const processes = (await listProcessTree(pid)).length;
  const before = await readUsage(pid);
  const memory = samplePeak(pid);
  const run = await createRun(client, FAST);
  let frames = 0;
  for await (const item of client.runs.stream(run, { live: isWatched })) if (item.kind === "live") frames++;
  const harnessMb = await memory.stop();
  // Until the processes of the execution have ended. The server keeps some for the next execution.
  for (let wait = 0; wait < 25 && (await listProcessTree(pid)).length > processes; wait++) await pause(SAMPLE_MS);
  const after = await readUsage(pid);
  const conversation = JSON.stringify(await client.runs.conversation(run));
  return {
    commandMs: Number(/"duration_ms":(\d+)/.exec(conversation)?.[1]),
    serverMs: after.serverMs - before.serverMs,
    executionMs: after.executionsMs - before.executionsMs,
    harnessMb,
    frames,
  };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Samples the largest resident set of a harness below a server, in MB. */
function samplePeak(server: number): { stop(): Promise<number> } {
  let isOver = false;
  let peak = 0;
  const sampling = (async () => {
    while (!isOver) {
      for (const pid of await listProcessTree(server)) {
        const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
        if (pid === server || !command.includes("harness")) continue;
        const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
        peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
      }
      await pause(SAMPLE_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await sampling;
      return Math.round(peak);
    },
  };
}

/** Compares runs with a reader with runs without one, in pairs, so that other work on the machine disturbs both alike. */
async function compareFast(client: Runyard, server: BenchServer, pairs: number): Promise<void> {
  const ratios: { readonly command: number; readonly execution: number; readonly server: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [false, true] : [true, false];
    const results = new Map<boolean, Fast>();
    for (const isWatched of order) {
      const fast = await runFast(client, server, isWatched);
      results.set(isWatched, fast);
      const { commandMs, serverMs, executionMs, harnessMb, frames } = fast;
      console.log(
        `100 MB, ${isWatched ? "with a reader" : "without one  "}: ${seconds(commandMs)}; processor time ${seconds(executionMs)} of ` +
          `the execution, ${seconds(serverMs)} of the server; harness ${harnessMb} MB; ${frames} frames`,
      );
    }
    const [plain, watched] = [results.get(false), results.get(true)];
    if (plain === undefined || watched === undefined) throw new Error("a run of the pair is missing");
    ratios.push({
      command: watched.commandMs / plain.commandMs,
      execution: watched.executionMs / plain.executionMs,
      server: (watched.serverMs - plain.serverMs) / 1000,
    });
  }
  const median = (of: (ratio: (typeof ratios)[number]) => number) => quantile(ratios.map(of), 0.5).toFixed(3);
  console.log(
    `medians of ${pairs} pairs, with a reader to without: duration × ${median(({ command }) => command)}, processor time of the ` +
      `execution × ${median(({ execution }) => execution)}, of the server + ${median(({ server: more }) => more)}s`,
  );
}

const before = load();
const state = await stateDirectory();
const server = await startServer(state.path);
try {
  const client = new Runyard({ baseURL: server.api.baseUrl, apiKey: server.api.key });
  const run = await createRun(client, SLOW);
  const readers = Array.from({ length: Number(values.readers) }, () => readLags(client, run));
  const { p50, p95 } = calculateSpread((await Promise.all(readers)).flat());
  console.log(`${readers.length} readers: a line came p50 ${p50} ms, p95 ${p95} ms late`);
  await compareFast(client, server, Number(values.pairs));
  console.log(dim(JSON.stringify(describeMachine(before))));
} finally {
  await server.stop();
  await state.remove();
}
