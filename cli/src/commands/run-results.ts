import { createWriteStream, existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command } from "@commander-js/extra-typings";
import {
  type ArtifactItem,
  type Block,
  planArtifactFiles,
  type Runyard,
} from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { firstText } from "../first-text.ts";
import { blockText } from "../follow/conversation-text.ts";
import { Problem } from "../problem.ts";
import { type Column, printRows } from "../table.ts";
import { oneLine, printable, terminalText } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";

export function responseCommand(context: Context) {
  const command = new Command("response")
    .description("print the agent's final message")
    .argument("<run>", "run id")
    .option("--structured", "print only the JSON value that fits the run's output schema")
    .action(async (id, { structured }) => {
      const response = await (await context.client()).runs.response(id);
      if (structured !== true) return context.show(response, () => context.sayText(response.text.trimEnd()));
      if (response.structured === undefined)
        throw new Problem(`The final message of the run ${id} fits no output schema.`);
      context.printJsonLine(response.structured);
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
    .option("--download <folder>", "folder to save the files in, under their own paths")
    .option("--overwrite", "replace files that exist in the folder")
    .action(async (id, { download, overwrite = false }) => {
      const client = await context.client();
      const { artifacts = [] } = await client.runs.retrieve(id);
      if (download === undefined) return showArtifacts(context, artifacts);
      const saved = await downloadAll(context, client, artifacts, { folder: download, overwrite });
      context.show(saved, () => {
        for (const { file } of saved) context.say(file);
      });
    });
  return withExamples(command, "runyard runs artifacts $id", "runyard runs artifacts $id --download out");
}

function showArtifacts(context: Context, artifacts: readonly ArtifactItem[]): void {
  if (context.json) context.printJson(artifacts);
  else if (artifacts.length === 0) context.note("The run has no artifacts.");
  else printRows(context, artifacts, artifactColumns(context));
}

const artifactColumns = (context: Context): readonly Column<ArtifactItem>[] => [
  { name: "artifact", of: ({ data }) => memberOf(data, "artifact_uid") ?? memberOf(data, "document_uid") },
  { name: "type", of: ({ artifact_type }) => artifact_type },
  { name: "created", of: ({ created_at }) => context.timeText(created_at) },
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
  { folder, overwrite }: { readonly folder: string; readonly overwrite: boolean },
): Promise<Saved[]> {
  const planned = planArtifactFiles(artifacts).map(
    ({ artifact_uid, path: name }): Saved => ({ artifact_uid, file: path.join(folder, name) }),
  );
  const resolve = (file: string) => path.resolve(context.shell.cwd, file);
  // Before anything is written: an agent chose the names, and one may be that of a file of the caller.
  if (!overwrite) refuseExisting(planned.map(({ file }) => file).filter((file) => existsSync(resolve(file))));
  await mkdir(resolve(folder), { recursive: true });
  for (const { artifact_uid: uid, file } of planned) {
    const { body } = await client.artifacts.download(uid);
    if (body === null) continue;
    await mkdir(path.dirname(resolve(file)), { recursive: true });
    await save(context, body, file, overwrite ? "w" : "wx");
  }
  return planned;
}

function refuseExisting(files: readonly string[]): void {
  const [first, ...others] = files;
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` and ${others.length} more of these files`;
  throw new Problem(`${first}${more} exist${others.length === 0 ? "s" : ""} already.`, {
    remedy: "Choose another folder, or replace them with --overwrite.",
  });
}

async function save(
  context: Context,
  body: ReadableStream<Uint8Array>,
  output: string | undefined,
  flags: "w" | "wx" = "w",
): Promise<void> {
  if (output === undefined) {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      // A pipe and a file get the bytes; a terminal would obey them.
      context.shell.out(context.shell.outIsTerminal ? terminalText(decoder.decode(chunk, { stream: true })) : chunk);
    }
    return;
  }
  const target = createWriteStream(path.resolve(context.shell.cwd, output), { flags });
  await pipeline(Readable.from(body), target).catch((error: unknown) => {
    throw new Problem(`${output} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  });
}
