import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { type FileProvider, parseFile } from "#shared/wire/providers/provider-settings.ts";
import type { FileRegistry, ImageRegistry } from "#shared/wire/providers/registry-settings.ts";
import { Problem } from "./terminal.ts";

/** The file in the data directory that lists model providers and registries of images. */
export const PROVIDER_FILE = "runyard.json";

/** Reads the providers of the file; none if there is no file. */
export const readProviderFile = (directory: string): readonly FileProvider[] => readFile(directory).providers;

function readFile(directory: string) {
  const file = path.join(directory, PROVIDER_FILE);
  const text = readIfPresent(file);
  if (text === undefined) return { providers: [], registries: [] };
  const parsed = parseFile(parseJson(text, file));
  if ("problems" in parsed) throw new Problem(`${file} is not valid.`, parsed.problems);
  return parsed;
}

/** Reads the registries of the file with their passwords. Those whose password is missing have none. */
export const readRegistries = (directory: string, environment: NodeJS.ProcessEnv): ImageRegistry[] =>
  readFile(directory).registries.map(({ password, ...registry }) => {
    const value = createSecretReader(password, directory, environment)?.();
    return { ...registry, ...(value === undefined ? {} : { password: value }) };
  });

/** Creates the reader of a provider's key. A file is read for each call, so that a new key takes effect without a restart. */
export const createKeyReader = (
  { key }: FileProvider,
  directory: string,
  environment: NodeJS.ProcessEnv,
): (() => string | undefined) | undefined => createSecretReader(key, directory, environment);

function createSecretReader(
  key: FileProvider["key"] | FileRegistry["password"],
  directory: string,
  environment: NodeJS.ProcessEnv,
): (() => string | undefined) | undefined {
  if (key === undefined) return undefined;
  if (typeof key === "string") return () => key;
  if ("env" in key) return () => environment[key.env]?.trim() || undefined;
  return () => readIfPresent(path.resolve(directory, key.file))?.trim() || undefined;
}

/** Describes what is wrong with the file and its keys, although the service can start. */
export function findFileWarnings(directory: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const { providers, registries } = readFile(directory);
  const file = path.join(directory, PROVIDER_FILE);
  const missing = providers.flatMap((provider) => {
    const read = createKeyReader(provider, directory, environment);
    if (read === undefined || read() !== undefined) return [];
    const { name, key } = provider;
    const where = typeof key === "object" && "env" in key ? `the variable ${key.env}` : "its file";
    return [`The key of the model provider ${name} is missing: set ${where}. Its models fail until then.`];
  });
  const holdsKey =
    providers.some(({ key, headers }) => typeof key === "string" || headers !== undefined) ||
    registries.some(({ password }) => typeof password === "string");
  const isReadable = holdsKey && (statSync(file).mode & 0o077) !== 0;
  return [
    ...(isReadable ? [`Other users can read ${file}, which can hold keys. Run: chmod 600 '${file}'`] : []),
    ...missing,
    ...registries.flatMap((registry) => {
      const read = createSecretReader(registry.password, directory, environment);
      if (read === undefined || read() !== undefined) return [];
      return [`The password of the registry ${registry.host} is missing: its images cannot be pulled until it is set.`];
    }),
  ];
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Below a file there is no file either. That the data directory cannot be created is said where it is created.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) {
      return undefined;
    }
    throw new Problem(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The rest of the message quotes the file, which can hold keys.
    const at = findPosition(error instanceof Error ? error.message : "", text);
    const line = at === undefined ? undefined : text.slice(0, at).split("\n").length;
    throw new Problem(`${file} is not JSON${line === undefined ? "" : `: see line ${line}`}.`);
  }
}

/** Finds where JSON is not valid: the message names the position, or quotes the text around it. */
function findPosition(message: string, text: string): number | undefined {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  const [, token = "", dots, quoted = ""] =
    /^Unexpected token '([\s\S]+?)', (\.\.\.)?"([\s\S]*)"(?:\.\.\. )? ?is not valid JSON$/.exec(message) ?? [];
  const start = dots === undefined ? 0 : text.indexOf(quoted);
  const offset = start < 0 ? -1 : text.indexOf(token, start + (dots === undefined ? 0 : QUOTED_BEFORE));
  return quoted === "" || offset < 0 ? undefined : offset;
}

/** Characters that a message quotes before the wrong one. */
const QUOTED_BEFORE = 10;
