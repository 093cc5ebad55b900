import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createScratch, removeScratch } from "../../shared/sandbox/scratch.ts";
import { FakeControlPlane } from "../fake-control-plane.ts";
import { describeTree, findChanges } from "./canary.ts";
import { type Excess, followUse } from "./excess.ts";
import { Account, type Disk, type Use } from "./host.ts";

const MIB = 1024 * 1024;
const LIMITS: Use = { memoryBytes: 300 * MIB, processes: 150, diskBytes: 512 * MIB, files: 10_000 };
const ENDS = ["finish", "finish", "finish", "finish", "cancel", "SIGTERM", "SIGKILL", "deadline"] as const;
type End = (typeof ENDS)[number];

const MEASURE_MS = 20;
/** How long processes may live on after their harness, and how long an execution may take at all. */
const GRACE_MS = 10_000;
const MAX_MS = 240_000;
const ATTACKER = join(import.meta.dirname, "attacker.py");
const MAIN = join(import.meta.dirname, "../../harness/main.ts");

/** What all executions of a campaign share. */
export interface Stage {
  readonly disk: Disk;
  /** The tree of the host that nobody may touch, and the word in its files. */
  readonly canary: string;
  readonly word: string;
  /** The address of a repository that executions clone. */
  readonly repository: string;
}

export interface Round {
  readonly number: number;
  /** The user of the harness: root, whose processes the kernel does not limit without cgroups, or another one. */
  readonly user: number;
  readonly end: End;
  /** A checkpoint of an earlier execution, from which this one continues. */
  readonly snapshot: Buffer | undefined;
}

export interface Outcome extends Round {
  /** How often each trick was tried, as far as its output was stored. */
  readonly tricks: readonly string[];
  readonly excess: readonly Excess[];
  readonly violations: readonly string[];
  readonly checkpoint: Buffer | undefined;
  /** What became of the run: its summary, or why there is none. */
  readonly summary: string;
  readonly durationMs: number;
}

export function planRound(number: number, random: () => number, snapshot: Buffer | undefined): Round {
  return {
    number,
    user: number % 2 === 0 ? 0 : 65_534,
    end: ENDS[Math.floor(random() * ENDS.length)] ?? "finish",
    snapshot: random() < 0.3 ? snapshot : undefined,
  };
}

/** Runs one execution of attacks, and checks the host afterwards. */
export async function runRound(round: Round, stage: Stage, random: () => number): Promise<Outcome> {
  const startedAt = Date.now();
  const before = describeTree(stage.canary);
  await using plane = await FakeControlPlane.start({
    prompt: writePrompt(stage, random),
    context: configure(stage, random),
  });
  plane.attach("attacker.py", readFileSync(ATTACKER, "utf8"));
  if (round.snapshot !== undefined) plane.attachSnapshot(round.snapshot);
  plane.lifetimeMs = round.end === "deadline" ? 25_000 + random() * 10_000 : 120_000;
  stage.disk.reset();
  const scratch = await createScratch(stage.disk.folder);
  chownSync(scratch, round.user, round.user);
  const account = new Account(`attack-${process.pid}-${round.number}`);
  const use = followUse(LIMITS);
  const harness = startHarness(plane, account, scratch, round);
  const timer = setInterval(
    () => use.add({ ...account.measure(harness.process.pid ?? 0), ...stage.disk.measure() }),
    MEASURE_MS,
  );
  const ending = endEarly(round.end, plane, harness.process, random);
  const late = setTimeout(() => harness.process.kill("SIGKILL"), MAX_MS);
  await once(harness.process, "exit");
  const endedAt = Date.now();
  clearTimeout(late);
  ending.abort();
  const violations = endedAt - startedAt >= MAX_MS ? [`the execution did not end: ${harness.log().slice(-500)}`] : [];
  for (const deadline = Date.now() + GRACE_MS; account.list().length > 0 && Date.now() < deadline; ) await sleep(100);
  clearInterval(timer);
  violations.push(...account.list().map((pid) => `process ${pid} outlived its execution: ${readName(pid)}`));
  await removeScratch(scratch);
  violations.push(...stage.disk.list().map((name) => `${name} is left on the disk`));
  // The kernel limits what a harness cannot close: groups that a killed harness left are removed by the next one.
  const groups = await account.close();
  if (round.end !== "SIGKILL") violations.push(...groups.map((group) => `${group} is left`));
  violations.push(
    ...findChanges(before, describeTree(stage.canary))
      .slice(0, 10)
      .map((line) => `the host's files: ${line}`),
  );
  const archive = plane.savedFile("workspace.tar.gz");
  const sent = plane.calls.some(({ raw }) => raw.includes(stage.word));
  if (sent) violations.push("a file of the host was sent");
  return {
    ...round,
    tricks: plane.outputs.flatMap((output) => output.match(/^[a-z]+(?:_[a-z]+)+$/gm) ?? []),
    excess: use.result(),
    violations,
    checkpoint: archive,
    summary: plane.outcome?.summary ?? JSON.stringify(plane.shutdown ?? `no outcome: ${harness.log().slice(-300)}`),
    durationMs: Date.now() - startedAt,
  };
}

/** The limits that a program may exceed, by the names that the attacker has for them. Those of disk and files are held by the harness alone. */
const HOGS = ["disk", "disk", "disk", "files", "files", "files", "memory", "processes", "all"] as const;
const choose = <T>(values: readonly T[], random: () => number): T | undefined =>
  values[Math.floor(random() * values.length)];

/**
 * Commands that attack, and some that exceed a limit; a program in the background and one of MCP attack meanwhile. A command that is ended
 * for a limit ends the run: a hog in the background does not, and the run goes on with the files that it has left.
 */
function writePrompt({ canary }: Stage, random: () => number): string {
  const attack = (tag: string, role: string, seconds: number) => {
    const words = `${role} ${Math.floor(random() * 1e9)} ${seconds.toFixed(1)} ${canary}`;
    return `\`\`\`${tag}\npython3 - ${words} <<'ATTACKER' || :\n${readFileSync(ATTACKER, "utf8")}ATTACKER\n\`\`\``;
  };
  const hog = () => `hog-${choose(HOGS, random)}`;
  const blocks = random() < 0.3 ? [attack("sh background", "background", 10)] : [];
  if (random() < 0.5) blocks.push(attack("sh background", hog(), 4 + random() * 6), attack("sh", "command", 3));
  if (random() < 0.3) blocks.push(attack("sh", "command", 1 + random() * 2));
  if (random() < 0.8) blocks.push(attack("sh", hog(), 4 + random() * 6));
  if (random() < 0.3) blocks.push(attack("sh", "command", 1 + random() * 2));
  return blocks.join("\n");
}

const configure = ({ repository, canary }: Stage, random: () => number) => {
  const role = random() < 0.3 ? `server-${choose(HOGS, random)}` : "server";
  const args = ["/workspace/attachments/attacker.py", role, String(Math.floor(random() * 1e9)), "60", canary];
  return {
    agent_config: { repositories: [{ url: repository }] },
    ...(random() < 0.4 ? {} : { mcp_servers: { attacker: { command: "python3", args } } }),
  };
};

function startHarness(plane: FakeControlPlane, account: Account, scratch: string, { user }: Round) {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nonexistent",
    TMPDIR: scratch,
    RUNYARD_SANDBOX: "bubblewrap",
    RUNYARD_COMMAND_MEMORY_MIB: String(LIMITS.memoryBytes / MIB),
    RUNYARD_COMMAND_PROCESSES: String(LIMITS.processes),
    RUNYARD_RUN_DISK_MIB: String(LIMITS.diskBytes / MIB),
    RUNYARD_RUN_FILES: String(LIMITS.files),
  };
  const child = spawn("/bin/sh", [...account.enter(user), process.execPath, MAIN], { env, stdio: "pipe" });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
    });
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(plane.envelope));
  return { process: child, log: () => log };
}

/** Ends the execution from outside after a while, until the result is aborted. */
function endEarly(
  end: End,
  plane: FakeControlPlane,
  harness: ReturnType<typeof spawn>,
  random: () => number,
): AbortController {
  const stop = new AbortController();
  const afterMs = 3_000 + random() * 9_000;
  const act = () => {
    if (end === "cancel") plane.cancelled = true;
    if (end === "SIGTERM" || end === "SIGKILL") harness.kill(end);
  };
  sleep(afterMs, undefined, { signal: stop.signal }).then(act, () => undefined);
  return stop;
}

const readName = (pid: string): string =>
  existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ") : "";
