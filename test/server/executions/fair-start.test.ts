import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { QUEUES } from "#server/queue/queue-names.ts";
import { Queues } from "#server/queue/queues.ts";
import { executionLog } from "#server/sandbox/execution-log.ts";
import { ProcessSandbox } from "#server/sandbox/process-sandbox.ts";
import { useDataDirectory } from "../support/data-directory.ts";
import { eventually } from "../support/eventually.ts";

const data = useDataDirectory();
const folder = mkdtempSync(path.join(tmpdir(), "runyard-fair-"));
/** A harness that executes until SIGTERM. It creates a file named after its process id once it waits for input. */
const program = { file: path.join(folder, "harness.cjs") };
writeFileSync(
  program.file,
  `process.on("SIGTERM", () => process.exit(0));
   require("node:fs").writeFileSync(__dirname + "/" + process.pid, "");
   let text = "";
   process.stdin.on("data", (chunk) => { text += chunk; });
   process.stdin.on("end", () => {
     if (text === "") process.exit(0);
     console.log(JSON.parse(text).run_id + " " + process.pid);
     setInterval(() => {}, 1000);
   });`,
);
const startedHarnesses = (): number[] => readdirSync(folder).map(Number).filter(Number.isInteger);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A sandbox with two places behind the queue of runs. `started` maps runs, in order of start, to process ids. */
function startSandbox() {
  const database = data.open();
  const queues = new Queues(database, Date.now);
  const started = new Map<string, number>();
  const sandbox = new ProcessSandbox({
    program: () => program,
    concurrency: 2,
    log: executionLog(database),
    print(line) {
      const [run = "", pid] = line.split(" ");
      started.set(run, Number(pid));
    },
    onRoom: () => queues.wake(),
  });
  queues.consume({
    queue: QUEUES.runs,
    concurrency: 8,
    hasRoom: (inFlight) => sandbox.hasRoom(inFlight),
    accepts: (owner, inFlight, ofOwner) => sandbox.hasRoomFor(owner, inFlight, ofOwner),
    async handle({ Records: [record] }) {
      const run = record?.body ?? "";
      sandbox.expect(run, record?.attributes.MessageGroupId ?? "");
      const urls = { base_url: "http://127.0.0.1:9", model_url: "http://127.0.0.1:9" };
      await sandbox.start({ version: 1, ...urls, run_id: run, execution_id: run, key: `key of ${run}` });
      sandbox.forget(run);
      return { batchItemFailures: [] };
    },
  });
  queues.start();
  ends.push(async () => {
    await queues.stop();
    await sandbox.close();
  });
  return { queues, started, sandbox };
}

describe("a machine on which one team uses all places", () => {
  it("starts a run of another team at once, with a harness that was started ahead, and runs it before the others", async () => {
    const { queues, started, sandbox } = startSandbox();
    for (let n = 1; n <= 5; n++) await queues.send(QUEUES.runs, `a${n}`, { group: "TEAM#a" });
    await eventually(() => expect([...started.keys()].sort()).toEqual(["a1", "a2"]));
    await eventually(() => expect(startedHarnesses()).toHaveLength(3));
    const ahead = startedHarnesses();
    await queues.send(QUEUES.runs, "b1", { group: "TEAM#b" });
    await queues.send(QUEUES.runs, "b2", { group: "TEAM#b" });
    await eventually(() => expect([...started.keys()].sort()).toEqual(["a1", "a2", "b1"]));
    const processOf = (run: string): number => started.get(run) ?? 0;
    expect(ahead, "it waited for a run of a team without any").toContain(processOf("b1"));
    expect(getPriority(processOf("a2"))).toBeGreaterThan(getPriority(processOf("a1")));
    expect(getPriority(processOf("b1"))).toBe(getPriority(processOf("a1")));
    await sandbox.stop({ provider: "lambda", executionId: "a1" });
    await sandbox.stop({ provider: "lambda", executionId: "b1" });
    await eventually(() => expect(started.size).toBeGreaterThanOrEqual(4));
  });
});
