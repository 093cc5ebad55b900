import { API_BASE } from "../api/client.ts";
import { type Draft, toRunRequest, toScheduleRequest } from "./draft.ts";

export interface Snippet {
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

/** An attachment of the form. */
export interface AttachedFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** The request of the form for other ways to send it. */
export function toSnippets(draft: Draft, files: readonly AttachedFile[]): Snippet[] {
  const body = draft.isScheduled ? toScheduleRequest(draft) : toRunRequest(draft);
  return [
    {
      name: "curl",
      language: "bash",
      text: toCurl(draft.isScheduled ? "/agent/schedules" : "/agent/runs", body, files),
    },
    ...(draft.isScheduled ? [] : [{ name: "CLI", language: "bash", text: toCli(draft, files) }]),
    { name: "TypeScript", language: "typescript", text: toTypeScript(draft.isScheduled, body, files) },
    { name: "Python", language: "python", text: toPython(draft.isScheduled, body, files) },
  ];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const indent = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

/** Bytes that the attachments within a request may have together. */
const MAX_INLINE_BYTES = 2.9 * 1024 * 1024;

/** Small files are part of the request, which needs no upload before it. */
function toCurl(path: string, body: object, files: readonly AttachedFile[]): string {
  const isLarge = files.reduce((sum, { size }) => sum + size, 0) > MAX_INLINE_BYTES;
  const encoded = files.map(({ name }, index) => `FILE${index}=$(base64 < ${quote(name)} | tr -d '\\n')`);
  // No text of the form contains a NUL, so nothing else is taken for the place of a file.
  const attachments = files.map(({ name, type }, index) => ({
    file_name: name,
    mime_type: type || "application/octet-stream",
    data: `\0${index}\0`,
  }));
  const json = JSON.stringify({ ...body, ...(files.length === 0 ? {} : { attachments }) }, undefined, 2);
  const quoted = quote(json).replace(/\\u0000(\d)\\u0000/g, `'"$FILE$1"'`);
  return [
    ...(isLarge
      ? ["# These files are too large for one request: upload them first, with POST /agent/attachments."]
      : []),
    ...encoded,
    `curl -sS ${API_BASE}${path} \\`,
    `  -H "Authorization: Bearer $RUNYARD_API_KEY" \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${files.length === 0 ? quoted : `@- <<< ${quoted}`}`,
  ].join("\n");
}

function toCli(draft: Draft, files: readonly AttachedFile[]): string {
  const { config = {}, metadata = {} } = toRunRequest(draft);
  const { model_id: _model, environment_id: _environment, skill_spec: _skill, repositories, ...rest } = config;
  const repository = draft.repository.trim() + (draft.ref.trim() === "" ? "" : `#${draft.ref.trim()}`);
  const further = { ...rest, ...(repository === "" && repositories !== undefined ? { repositories } : {}) };
  const options: (readonly [string, string])[] = [
    ["--title", draft.title.trim()],
    ["--model", draft.model],
    ["--env", draft.environment],
    ["--skill", draft.skill.trim()],
    ["--repo", repository],
    ["--agent", draft.identity],
    ["--mode", draft.mode === "normal" ? "" : draft.mode],
    ...files.map(({ name }) => ["--attach", name] as const),
    ...Object.entries(metadata).map(([name, value]) => ["--metadata", `${name}=${value}`] as const),
  ];
  const words = options.filter(([, value]) => value !== "").map(([name, value]) => `${name} ${quote(value)}`);
  const file = Object.keys(further).length === 0 ? [] : [`--config <(printf %s ${quote(JSON.stringify(further))})`];
  const flags = draft.isPersonal ? ["--personal", "--follow"] : ["--follow"];
  const isOption = draft.prompt.startsWith("-");
  const prompt = draft.prompt.trim() === "" ? [] : [isOption ? `-- ${quote(draft.prompt)}` : quote(draft.prompt)];
  const all = isOption ? [...words, ...file, ...flags, ...prompt] : [...prompt, ...words, ...file, ...flags];
  return `runyard run ${all.join(" \\\n  ")}`;
}

const toUpload = ({ name, type }: AttachedFile) => ({ file_name: name, ...(type === "" ? {} : { mime_type: type }) });

function toTypeScript(isScheduled: boolean, body: object, files: readonly AttachedFile[]): string {
  const json = JSON.stringify(body, undefined, 2);
  const attached = "  attachments: attachments.map((attachment_id) => ({ attachment_id })),";
  const request =
    files.length === 0 ? json : json.replace(/\n\}$|^\{\}$/, (end) => `${end === "{}" ? "{" : ","}\n${attached}\n}`);
  return [
    ...(files.length === 0 ? [] : ['import { openAsBlob } from "node:fs";']),
    'import { Runyard } from "runyard";',
    "",
    `const client = new Runyard({ baseURL: "${API_BASE}" }); // and RUNYARD_API_KEY`,
    ...(files.length === 0
      ? []
      : [
          "const attachments = await Promise.all(",
          `  ${JSON.stringify(files.map(toUpload), undefined, 2).replaceAll("\n", "\n  ")}.map(async (file) =>`,
          "    client.attachments.upload({ ...file, data: await openAsBlob(file.file_name) }),",
          "  ),",
          ");",
        ]),
    isScheduled
      ? `const schedule = await client.schedules.create(${request});`
      : `const run = await client.runs.createAndWait(${request});`,
    isScheduled ? "console.log(schedule.history.next_run);" : "console.log(run.state);",
  ].join("\n");
}

function toPython(isScheduled: boolean, body: object, files: readonly AttachedFile[]): string {
  const members = Object.entries(body).map(
    ([name, value]) => `        ${name}=${indent(toPythonValue(value), "        ")},`,
  );
  const call = isScheduled ? "schedule = client.schedules.create(" : "run = client.runs.create_and_wait(";
  return [
    "from runyard import Runyard",
    "",
    `with Runyard(base_url="${API_BASE}") as client:  # and RUNYARD_API_KEY`,
    ...(files.length === 0
      ? []
      : [
          `    files = ${indent(toPythonValue(files.map(({ name }) => name)), "    ")}`,
          "    attachments = [client.attachments.upload(file) for file in files]",
        ]),
    `    ${call}`,
    ...members,
    ...(files.length === 0 ? [] : ['        attachments=[{"attachment_id": uid} for uid in attachments],']),
    "    )",
    isScheduled ? "    print(schedule.history.next_run)" : "    print(run.state)",
  ].join("\n");
}

/** JSON is Python except for three words outside of texts. */
const toPythonValue = (value: unknown): string =>
  JSON.stringify(value, undefined, 4).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (match) =>
    match === "true" ? "True" : match === "false" ? "False" : match === "null" ? "None" : match,
  );
