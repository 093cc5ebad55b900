import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command } from "@commander-js/extra-typings";
import type { ArtifactItem, Block, Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { firstText } from "../first-text.ts";
import { Problem } from "../problem.ts";
import { type Column, printRows, timeText } from "../table.ts";
import { oneLine, printable, terminalText } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";

export function responseCommand(context: Context) {
  const command = new Command("response")
    .description("print the agent's final message")
    .argument("<run>", "run id")
    .action(async (id) => {
      const response = await (await context.client()).runs.response(id);
      context.show(response, () => context.sayText(response.text.trimEnd()));
    });
  return withExamples(command, "runyard runs response $id");
}

export function conversationCommand(context: Context) {
  const command = new Command("conversation")
    .description("print the conversation, with each command and its output; with --json, one step per line")
    .argument("<run>", "run id")
    .action(async (id) => {
      const client = await context.client();
      for await (const step of client.runs.conversation(id)) {
        if (context.json) context.printJsonLine(step);
        else
          for (const { role, content } of step.messages) for (const block of content) printBlock(context, role, block);
      }
    });
  return withExamples(command, "runyard runs conversation $id | less");
}

function printBlock(context: Context, role: string, block: Block): void {
  const [head, body] = blockText(role, block);
  if (body !== "") context.sayText(`${context.style.bold(oneLine(head))}\n${printable(body)}\n`);
}

function blockText(role: string, block: Block): [head: string, body: string] {
  switch (block.type) {
    case "text":
      return [role, block.text];
    case "action":
      return [`${role}: ${block.name}`, formatValue(block.input)];
    case "action_result":
      return [`${role}: ${block.state}`, formatValue(block.output)];
    case "event": {
      const isSummary = block.name === "conversation_compacted";
      return [`${role}: summary of the messages before`, isSummary ? formatValue(block.data) : ""];
    }
  }
}

const formatValue = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

export function transcriptCommand(context: Context) {
  const command = new Command("transcript")
    .description("download the transcript as JSON Lines")
    .argument("<run>", "run id")
    .option("-o, --output <file>", "output file (default: standard output)")
    .action(async (id, { output }) => {
      const client = await context.client();
      const { body } = await client.runs.downloadTranscript(id);
      if (body !== null) await save(context, body, output);
    });
  return withExamples(
    command,
    "runyard runs transcript $id > transcript.jsonl",
    "runyard runs transcript $id -o transcript.jsonl",
  );
}

export function artifactsCommand(context: Context) {
  const command = new Command("artifacts")
    .description("list the artifacts of a run, or save them with --download")
    .argument("<run>", "run id")
    .option("--download <folder>", "folder to save the files in, under their own names")
    .action(async (id, { download }) => {
      const client = await context.client();
      const { artifacts = [] } = await client.runs.retrieve(id);
      if (download === undefined) return showArtifacts(context, artifacts);
      const saved = await downloadAll(context, client, artifacts, download);
      context.show(saved, () => {
        for (const { file } of saved) context.say(file);
      });
    });
  return withExamples(command, "runyard runs artifacts $id", "runyard runs artifacts $id --download out");
}

function showArtifacts(context: Context, artifacts: readonly ArtifactItem[]): void {
  if (context.json) context.printJson(artifacts);
  else if (artifacts.length === 0) context.note("The run has no artifacts.");
  else printRows(context, artifacts, ARTIFACT_COLUMNS);
}

const ARTIFACT_COLUMNS: readonly Column<ArtifactItem>[] = [
  { name: "artifact", of: ({ data }) => memberOf(data, "artifact_uid") ?? memberOf(data, "document_uid") },
  { name: "type", of: ({ artifact_type }) => artifact_type },
  { name: "created", of: ({ created_at }) => timeText(created_at) },
  { name: "bytes", of: ({ data }) => memberOf(data, "size_bytes") },
  { name: "name", of: ({ data }) => firstText(["filepath", "title", "url"].map((name) => memberOf(data, name))) },
];

/** A member that only some kinds of artifact have. */
function memberOf(data: object, name: string): string | number | undefined {
  const value: unknown = Reflect.get(data, name);
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

interface Saved {
  readonly artifact_uid: string;
  readonly file: string;
}

async function downloadAll(
  context: Context,
  client: Runyard,
  artifacts: readonly ArtifactItem[],
  folder: string,
): Promise<Saved[]> {
  const saved: Saved[] = [];
  const taken = new Set<string>();
  await mkdir(path.resolve(context.shell.cwd, folder), { recursive: true });
  for (const { data } of artifacts) {
    const uid = memberOf(data, "artifact_uid");
    const filename = memberOf(data, "filename") ?? memberOf(data, "title");
    if (typeof uid !== "string") continue;
    const file = path.join(folder, freeName(taken, safeName(String(filename ?? uid))));
    const { body } = await client.artifacts.download(uid);
    if (body !== null) await save(context, body, file);
    saved.push({ artifact_uid: uid, file });
  }
  return saved;
}

/** A run names its files itself; they must not leave the folder that they are saved to. */
function safeName(name: string): string {
  const base = path.posix.basename(name.replaceAll("\\", "/")).replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, "_");
  return /^\.*$/.test(base) ? "artifact" : base;
}

function freeName(taken: Set<string>, name: string): string {
  const { name: stem, ext } = path.parse(name);
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${stem}-${count}${ext}`;
  taken.add(free);
  return free;
}

async function save(context: Context, body: ReadableStream<Uint8Array>, output: string | undefined): Promise<void> {
  if (output === undefined) {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      // A pipe and a file get the bytes; a terminal would obey them.
      context.shell.out(context.shell.outIsTerminal ? terminalText(decoder.decode(chunk, { stream: true })) : chunk);
    }
    return;
  }
  const target = createWriteStream(path.resolve(context.shell.cwd, output));
  await pipeline(Readable.from(body), target).catch((error: unknown) => {
    throw new Problem(`${output} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  });
}
