import { defaultModel } from "#shared/models/models.ts";
import { bold, say, yellow } from "../../host/terminal.ts";
import type { LocalState } from "./local-state.ts";

const RUNBOOK = "local/runbook";

/** Prints the addresses, the key, and commands to copy. `localFile` is where the key is stored. */
export function printSummary(state: LocalState, localFile: string): void {
  const model = defaultModel();
  const rows: [string, string][] = [
    ["API", state.base_url],
    ["Docs", `${state.base_url}/docs`],
    ["Web page", state.web_url],
    ["Key", `${state.api_key}  (also in ${localFile})`],
    ["Model", model],
    ["CLI", "npm run runyard -- --help"],
  ];
  say();
  for (const [name, value] of rows) say(`${bold(name.padEnd(11))} ${value}`);
  say();
  say("Start a run of your own:");
  say();
  say(`  curl -sS -X POST ${state.base_url}/agent/runs \\`);
  say(`    -H "Authorization: Bearer ${state.api_key}" \\`);
  say(`    -H 'content-type: application/json' -d @examples/hello.json`);
  say();
  if (model !== RUNBOOK) return;
  say(
    yellow(
      "No model key is configured: only fenced shell blocks run. docs/models.md says how to add one, such as RUNYARD_ANTHROPIC_API_KEY.",
    ),
  );
  say();
}
