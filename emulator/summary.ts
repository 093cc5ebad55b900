import { localModels } from "../server/host/models.ts";
import { bold, say, yellow } from "../server/host/terminal.ts";
import type { LocalCloud } from "./local-cloud.ts";

/** Prints the addresses, the key, and a call to copy. */
export function printSummary(cloud: LocalCloud, localFile: string): void {
  const rows: [string, string][] = [
    ["API", cloud.api.baseUrl],
    ["Web page", cloud.webUrl],
    ["Key", `${cloud.api.key}  (also in ${localFile})`],
  ];
  say();
  for (const [name, value] of rows) say(`${bold(name.padEnd(11))} ${value}`);
  say();
  say("Start a run of your own:");
  say();
  say(`  curl -sS -X POST ${cloud.api.baseUrl}/agent/runs \\`);
  say(`    -H "Authorization: Bearer ${cloud.api.key}" \\`);
  say(`    -H 'content-type: application/json' -d @examples/hello.json`);
  say();
  if (Object.keys(localModels(process.env).context).length > 0) return;
  say(
    yellow(
      "no model key configured: only fenced shell blocks run; add one with what docs/models.md says, such as RUNYARD_ANTHROPIC_API_KEY.",
    ),
  );
  say();
}
