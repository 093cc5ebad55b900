import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { readJson } from "../server/host/files.ts";
import { localPaths, toDisplayPath } from "../server/host/paths.ts";
import { complain, Problem, say } from "../server/host/terminal.ts";
import { type FixtureValues, fillFixture, PLACEHOLDERS, placeholdersIn } from "./event-fixture.ts";
import { findValues } from "./fixture-values.ts";
import { findInvoker, type Invoker } from "./invoker.ts";
import { Installation } from "./local-file.ts";

const HELP = `Usage: npm run invoke -- NAME FIXTURE.json [options]
       npm run invoke -- --list

Sends one event to one function of npm start or npm run emulator, as AWS would, and prints its answer and its log.

  npm run invoke -- create-run events/http/create-run.json
  npm run invoke -- get-run events/http/get-run.json --run-id ID

Placeholders of the fixture, such as {{run_id}}, take their values from the option of that name, else from
.runyard/local.json, else from the run of --run-id, else from the latest run. A run's key is known to its sandbox
alone, so {{run_key}} is always given.

${PLACEHOLDERS.map((name) => `  ${`--${toOption(name)}`.padEnd(19)} {{${name}}}`).join("\n")}
  --print             prints the filled event and sends it to nobody
  --list              names the functions`;

type Command =
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly why: string }
  | { readonly kind: "list" }
  | { readonly kind: "invoke"; readonly name: string; readonly file: string; readonly fixtureValues: FixtureValues }
  | { readonly kind: "print"; readonly file: string; readonly fixtureValues: FixtureValues };

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.kind === "help" || command.kind === "wrong") {
    say(command.kind === "help" ? HELP : `${command.why}\n\n${HELP}`);
    return command.kind === "help" ? 0 : 2;
  }
  const { localFile } = localPaths(process.env);
  const local = await readJson(localFile, Installation);
  if (local === undefined)
    throw new Problem(`There is no ${toDisplayPath(localFile)}: run npm start or npm run emulator first.`);
  if (command.kind === "print") {
    say(await readFixture(command.file, command.fixtureValues, local));
    return 0;
  }
  const invoker = await findInvoker(localFile);
  const names = (await invoker.names()).toSorted();
  if (command.kind === "list") {
    say(names.join("\n"));
    return 0;
  }
  const { name, file, fixtureValues } = command;
  if (!names.includes(name)) throw new Problem(`There is no function "${name}". There are: ${names.join(", ")}.`);
  return invoke(invoker, name, await readFixture(file, fixtureValues, local));
}

function toOption(placeholder: string): string {
  return placeholder.replaceAll("_", "-");
}

function readCommand(args: string[]): Command {
  const texts = PLACEHOLDERS.map((name) => [toOption(name), { type: "string" }] as const);
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        ...Object.fromEntries(texts),
        list: { type: "boolean" },
        print: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return { kind: "wrong", why: error instanceof Error ? error.message : String(error) };
  }
  const { values, positionals } = parsed;
  if (values["help"] === true) return { kind: "help" };
  if (values["list"] === true) return { kind: "list" };
  const [name, file, ...others] = positionals;
  if (name === undefined || file === undefined || others.length > 0) {
    return { kind: "wrong", why: "Name one function and one fixture." };
  }
  const fixtureValues: FixtureValues = {};
  for (const placeholder of PLACEHOLDERS) {
    const value = values[toOption(placeholder)];
    if (typeof value === "string") fixtureValues[placeholder] = value;
  }
  return values["print"] === true
    ? { kind: "print", file, fixtureValues }
    : { kind: "invoke", name, file, fixtureValues };
}

/** Reads a fixture and fills it in; the file itself holds no key that works. */
async function readFixture(file: string, fixtureValues: FixtureValues, local: Installation): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new Problem(`${file} cannot be read.`);
  });
  const values = await findValues(placeholdersIn(text), fixtureValues, local);
  try {
    return JSON.stringify(fillFixture(text, values));
  } catch (error) {
    throw new Problem(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

async function invoke(invoker: Invoker, name: string, event: string): Promise<number> {
  const began = performance.now();
  const { payload, log, error } = await invoker.invoke(name, event);
  const took = Math.round(performance.now() - began);
  if (log.trim() !== "") complain(log.trimEnd());
  complain(`${name}: ${error ? `failed (${error})` : "answered"} after ${took} ms`);
  say(readable(payload));
  return error ? 1 : 0;
}

const HttpResponse = v.looseObject({ statusCode: v.number(), body: v.optional(v.string()) });

/** The response as JSON with line breaks; JSON inside an HTTP response's body is shown as JSON. */
function readable(text: string): string {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  if (!parsed.success) return text;
  const http = v.safeParse(HttpResponse, parsed.output);
  if (!http.success) return JSON.stringify(parsed.output, null, 2);
  const body = v.safeParse(v.pipe(v.string(), v.parseJson()), http.output.body ?? "");
  return JSON.stringify(body.success ? { ...http.output, body: body.output } : http.output, null, 2);
}

if (import.meta.main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
