import { API_BASE } from "../api/client.ts";
import { type Draft, toRunRequest, toScheduleRequest } from "./draft.ts";

export interface Snippet {
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

/** The request of the form for other ways to send it. */
export function toSnippets(draft: Draft): Snippet[] {
  const body = draft.isScheduled ? toScheduleRequest(draft) : toRunRequest(draft);
  return [
    { name: "curl", language: "bash", text: toCurl(draft.isScheduled ? "/agent/schedules" : "/agent/runs", body) },
    ...(draft.isScheduled ? [] : [{ name: "CLI", language: "bash", text: toCli(draft) }]),
    { name: "TypeScript", language: "typescript", text: toTypeScript(draft.isScheduled, body) },
    { name: "Python", language: "python", text: toPython(draft.isScheduled, body) },
  ];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const indent = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

const toCurl = (path: string, body: object): string =>
  [
    `curl -sS -X POST ${API_BASE}${path} \\`,
    `  -H "Authorization: Bearer $RUNYARD_API_KEY" \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${quote(JSON.stringify(body, undefined, 2))}`,
  ].join("\n");

function toCli(draft: Draft): string {
  const config = { ...toRunRequest(draft).config };
  const budget = config.budget_usd;
  const repository = draft.repository.trim() + (draft.ref.trim() === "" ? "" : `#${draft.ref.trim()}`);
  const options: (readonly [string, string])[] = [
    ["--title", draft.title.trim()],
    ["--model", draft.model],
    ["--env", draft.environment],
    ["--skill", draft.skill.trim()],
    ["--repo", repository],
    ["--agent", draft.identity],
    ["--mode", draft.mode === "normal" ? "" : draft.mode],
  ];
  const words = options.filter(([, value]) => value !== "").map(([name, value]) => `${name} ${quote(value)}`);
  const rest = {
    ...(budget === undefined ? {} : { budget_usd: budget }),
    ...(draft.isPublic ? { session_sharing: config.session_sharing } : {}),
  };
  const file = Object.keys(rest).length === 0 ? [] : [`--config <(echo ${quote(JSON.stringify(rest))})`];
  const all = [quote(draft.prompt), ...words, ...file, ...(draft.isPersonal ? ["--personal"] : []), "--follow"];
  return `runyard run ${all.join(" \\\n  ")}`;
}

const toTypeScript = (isScheduled: boolean, body: object): string =>
  [
    'import { Runyard } from "runyard";',
    "",
    `const client = new Runyard({ baseURL: "${API_BASE}" }); // and RUNYARD_API_KEY`,
    isScheduled
      ? `const schedule = await client.schedules.create(${JSON.stringify(body, undefined, 2)});`
      : `const run = await client.runs.createAndWait(${JSON.stringify(body, undefined, 2)});`,
    isScheduled ? "console.log(schedule.history.next_run);" : "console.log(run.state);",
  ].join("\n");

function toPython(isScheduled: boolean, body: object): string {
  const members = Object.entries(body).map(
    ([name, value]) => `        ${name}=${indent(toPythonValue(value), "        ")},`,
  );
  const call = isScheduled ? "schedule = client.schedules.create(" : "run = client.runs.create_and_wait(";
  return [
    "from runyard import Runyard",
    "",
    `with Runyard(base_url="${API_BASE}") as client:  # and RUNYARD_API_KEY`,
    `    ${call}`,
    ...members,
    "    )",
    isScheduled ? "    print(schedule.history.next_run)" : "    print(run.state)",
  ].join("\n");
}

/** JSON is Python but for three words outside of texts. */
const toPythonValue = (value: unknown): string =>
  JSON.stringify(value, undefined, 4).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (match) =>
    match === "true" ? "True" : match === "false" ? "False" : match === "null" ? "None" : match,
  );
