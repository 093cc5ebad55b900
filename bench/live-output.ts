/**
 * `npm run bench:live`: measures live output on a running server, which RUNYARD_BASE_URL and RUNYARD_API_KEY name: how late a line reaches
 * a reader, and how much a command with much output is slowed by a reader.
 */
import { parseArgs } from "node:util";
import { Runyard } from "../clients/typescript/src/index.ts";
import { calculateSpread } from "./statistics.ts";

const LINES = 12;
/** Prints lines with the time at which each was printed. */
const SLOW = `for i in $(seq ${LINES}); do echo "line $i $(date +%s%3N)"; sleep 1; done`;
/** Prints 100 MB in about ten seconds. */
const FAST = 'for i in $(seq 100); do head -c 1000000 /dev/zero | tr "\\0" x | fold -w 99; sleep 0.08; done';

const { values } = parseArgs({ options: { readers: { type: "string", default: "50" } } });
const client = new Runyard();

const createRun = async (script: string): Promise<string> => {
  const prompt = `\`\`\`sh\n${script}\n\`\`\``;
  return (await client.runs.create({ prompt, config: { model_id: "local/runbook" } })).run_id;
};

/** Returns how late each line reached a reader, in milliseconds. */
async function readLags(run: string): Promise<number[]> {
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

/** Returns how long the command took, and the number of frames that came. */
async function runFast(isWatched: boolean): Promise<{ milliseconds: number; frames: number }> {
  const run = await createRun(FAST);
  let frames = 0;
  for await (const item of client.runs.stream(run, { live: isWatched })) if (item.kind === "live") frames++;
  const conversation = JSON.stringify(await client.runs.conversation(run));
  return { milliseconds: Number(/"duration_ms":(\d+)/.exec(conversation)?.[1]), frames };
}

const run = await createRun(SLOW);
const lags = (await Promise.all(Array.from({ length: Number(values.readers) }, () => readLags(run)))).flat();
const { p50, p95 } = calculateSpread(lags);
console.log(`${lags.length} lines at ${values.readers} readers: p50 ${p50} ms, p95 ${p95} ms late`);
for (const isWatched of [false, true, false, true]) {
  const { milliseconds, frames } = await runFast(isWatched);
  console.log(`100 MB of output, ${isWatched ? "watched" : "not watched"}: ${milliseconds} ms, ${frames} frames`);
}
