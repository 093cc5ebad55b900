import { defaultModel } from "#shared/models/models.ts";
import { bold, say, yellow } from "../host/terminal.ts";
import type { LocalState } from "./local-state.ts";
import type { Program } from "./program.ts";

const RUNBOOK = "local/runbook";
/** A run for a shell's command line, where there is no file to send. */
const HELLO = `'{"prompt": "\`\`\`sh\\necho hello\\n\`\`\`"}'`;

/**
 * Prints the addresses, the key, and commands to copy. Without a terminal, the output is kept by whatever started the service, such as
 * systemd or a container, so that it names the file with the key and the command for a link instead.
 * @param localFile where the key is stored
 * @param link signs in to the web app, once
 */
export function printSummary(
  state: LocalState,
  localFile: string,
  link: string | undefined,
  { isService, usage }: Program,
  isTerminal = process.stdout.isTTY === true,
): void {
  const webApp = isTerminal
    ? link === undefined
      ? state.web_url
      : `${link}  (works once, for 10 minutes)`
    : `${state.web_url}  (\`${usage} login-link\` prints a link that signs in)`;
  const bearer = isTerminal ? state.api_key : "$RUNYARD_API_KEY";
  const model = defaultModel();
  const rows: [string, string][] = [
    ["API", state.base_url],
    ["Docs", `${state.base_url}/docs`],
    ["Web app", webApp],
    ["Workers", state.ws_url ?? ""],
    ["Key", isTerminal ? `${state.api_key}  (also in ${localFile})` : `api_key in ${localFile}`],
    ["Model", model],
    ["CLI", isService ? "runyard --help (package runyard-cli)" : "npm run runyard -- --help"],
  ];
  say();
  for (const [name, value] of rows) say(`${bold(name.padEnd(11))} ${value}`);
  say();
  say("Start a run of your own:");
  say();
  say(`  curl -sS -X POST ${state.base_url}/agent/runs \\`);
  say(`    -H "Authorization: Bearer ${bearer}" \\`);
  say(`    -H 'content-type: application/json' -d ${isService ? HELLO : "@examples/hello.json"}`);
  say();
  if (model !== RUNBOOK) return;
  say(
    yellow(
      "No model key is configured: only fenced shell blocks run. docs/models.md says how to add one, such as RUNYARD_ANTHROPIC_API_KEY.",
    ),
  );
  say();
}
