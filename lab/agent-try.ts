import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Message } from "../shared/wire/conversation.ts";
import { startPlane } from "./agent-try/plane.ts";
import { chooseProvider, type Provider } from "./agent-try/providers.ts";
import { commitFiles } from "./eval/repository.ts";

const HELP = `npm run lab -- agent-try --model <id> [--url <address>] [--prompt <text>]

Lets the agent repair a failing test in a small git repository, with a real model, in the sandbox that this machine has, and then
checks the repair itself: the agent's patch is applied to the repository as it was, and the test is run. Nothing is deployed or kept.

  --model   anthropic/claude-sonnet-5-5 (the default), openai/gpt-5.4, compatible/qwen3, …
  --url     another address of the provider, before /v1; a compatible model needs one
  --prompt  another task for the same repository; its outcome is shown and not checked
  --help    this text

The key comes from ANTHROPIC_API_KEY, OPENAI_API_KEY or, where the server wants one, COMPATIBLE_API_KEY; the provider bills the calls
to it. It stays in this process: the agent's own process calls the model through this one.`;

const PATCH = "repair.patch";
const TASK = `The test of this repository fails. Find out why, repair the code and not the test, and run the test again to see that it passes.
Write what \`git diff\` prints to $RUNYARD_OUTPUT/${PATCH}. Say at the end in one sentence what was wrong.`;

const FILES = {
  "median.mjs": `/** The middle value of a list of numbers; of an even number of them, the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
`,
  "median.test.mjs": `import assert from "node:assert/strict";
import { test } from "node:test";
import { median } from "./median.mjs";

test("of an odd number of values", () => assert.equal(median([3, 1, 2]), 2));
test("of an even number of values", () => assert.equal(median([4, 1, 3, 2]), 2.5));
test("of values with several digits", () => assert.equal(median([100, 9, 20]), 20));
`,
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: "anthropic/claude-sonnet-5-5" },
      url: { type: "string" },
      prompt: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const provider = chooseProvider({ model: values.model, url: values.url, environment: process.env });
  const folder = mkdtempSync(join(tmpdir(), "runyard-try-"));
  try {
    return await tryAgent({ model: values.model, provider, prompt: values.prompt, folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Trial {
  readonly model: string;
  readonly provider: Provider;
  readonly prompt: string | undefined;
  readonly folder: string;
}

async function tryAgent({ model, provider, prompt = TASK, folder }: Trial): Promise<number> {
  const repository = makeRepository(folder);
  const began = Date.now();
  await using plane = await startPlane({ prompt, model, repository, provider, onMessage: show });
  const log = await runHarness(JSON.stringify(plane.envelope));
  const outcome = plane.outcome();
  console.log(`\n${model}: ${plane.calls()} calls in ${Math.round((Date.now() - began) / 1000)} s`);
  if (outcome === undefined) {
    console.error(`The agent did not come to an end:\n${log}`);
    return 1;
  }
  console.log(`${outcome.success ? "It says that it is done" : "It says that it failed"}: ${outcome.summary}`);
  if (prompt !== TASK) return outcome.success ? 0 : 1;
  const passed = isRepaired(repository, plane.files.get(PATCH));
  console.log(passed ? "Its patch repairs the test." : "The test still fails with its patch, or there is none.");
  return passed && outcome.success ? 0 : 1;
}

function makeRepository(folder: string): string {
  const repository = join(folder, "median");
  mkdirSync(repository);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(repository, name), text);
  commitFiles(repository);
  return repository;
}

/** The harness as a sandbox starts it: a process of its own, with nothing of this one's environment but the path. */
async function runHarness(envelope: string): Promise<string> {
  const main = join(import.meta.dirname, "../harness/main.ts");
  const env = { PATH: process.env["PATH"] ?? "" };
  const harness = spawn(process.execPath, [main], { env, stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  for (const stream of [harness.stdout, harness.stderr])
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
  harness.stdin.end(envelope);
  await once(harness, "close");
  return log;
}

function show({ content }: Message): void {
  for (const block of content) {
    if (block.type === "text") console.log(block.text);
    if (block.type === "action") console.log(`→ ${block.name} ${JSON.stringify(block.input).slice(0, 160)}`);
    if (block.type === "action_result") console.log(`← ${block.state}`);
  }
}

function isRepaired(repository: string, patch: string | undefined): boolean {
  if (patch === undefined) return false;
  try {
    execFileSync("git", ["apply", "-"], { cwd: repository, input: patch, stdio: ["pipe", "ignore", "ignore"] });
    execFileSync("git", ["checkout", "--quiet", "--", "median.test.mjs"], { cwd: repository });
    execFileSync(process.execPath, ["--test"], {
      cwd: repository,
      stdio: "ignore",
      env: { PATH: process.env["PATH"] },
    });
    return true;
  } catch {
    return false;
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(
      `${error instanceof Error ? error.message : String(error)}\n\nnpm run lab -- agent-try --help says more.`,
    );
    process.exitCode = 2;
  },
);
