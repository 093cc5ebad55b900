import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { Problem } from "./terminal.ts";

/** The file in the data directory that lists model providers. */
export const PROVIDER_FILE = "runyard.json";
/** The longest time-out: what is left of the longest call, which the model gateway reserves a budget for. */
const MAX_SECONDS = 800;
/** Headers that the request itself decides. */
const OWN_HEADERS = new Set(["host", "content-length", "content-type", "connection", "transfer-encoding"]);

const Text = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty"));
const Seconds = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_SECONDS, `must be at most ${MAX_SECONDS}`)),
);
const Tokens = v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)));
const Price = v.pipe(v.number(), v.minValue(0));
// Settings separate the names of models by commas.
const ModelName = v.pipe(Text, v.maxLength(200), v.regex(/^[^\s,=]+$/, "must have no space, comma or equals sign"));

const DescribedModel = v.strictObject({
  name: ModelName,
  display_name: v.exactOptional(Text),
  vision_supported: v.exactOptional(v.boolean()),
  context_tokens: Tokens,
  output_tokens: Tokens,
  cost: v.exactOptional(v.strictObject({ input_per_million_usd: Price, output_per_million_usd: Price })),
});

const BaseUrl = v.pipe(
  v.string(),
  v.check((address) => /^https?:$/.test(URL.parse(address)?.protocol ?? ""), "must be an http or https URL"),
  v.check((address) => hasNoCredentials(address), "must not contain a user name or a password; set key instead"),
  v.check((address) => !/[?#]/.test(address), "must have no query and no fragment"),
);

const Headers = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, "is not the name of a header")),
    v.pipe(v.string(), v.regex(/^[\t\x20-\x7e]*$/, "must be printable ASCII text")),
  ),
  v.check(
    (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.has(name.toLowerCase())),
    `must not contain ${[...OWN_HEADERS].join(", ")}`,
  ),
);

const Provider = v.strictObject({
  name: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "must be 1 to 40 lower-case letters, digits and hyphens"),
    v.notValues(["local", "bedrock"], "is reserved; choose another name"),
  ),
  kind: v.picklist(["anthropic", "openai", "compatible", "google"]),
  base_url: v.exactOptional(BaseUrl),
  key: v.exactOptional(v.union([Text, v.strictObject({ env: Text }), v.strictObject({ file: Text })])),
  headers: v.exactOptional(Headers),
  models: v.exactOptional(
    v.pipe(
      v.array(
        v.union([
          DescribedModel,
          v.pipe(
            ModelName,
            v.transform((name) => ({ name })),
          ),
        ]),
      ),
      v.minLength(1, "must name a model"),
    ),
  ),
  timeouts: v.exactOptional(
    v.strictObject({ first_byte_seconds: Seconds, idle_seconds: Seconds, total_seconds: Seconds }),
  ),
});
export type FileProvider = v.InferOutput<typeof Provider>;

const ProviderFile = v.strictObject({ providers: v.array(Provider) });

/** Reads the providers of the file; none if there is no file. */
export function readProviderFile(directory: string): readonly FileProvider[] {
  const file = path.join(directory, PROVIDER_FILE);
  const text = readIfPresent(file);
  if (text === undefined) return [];
  const parsed = v.safeParse(ProviderFile, parseJson(text, file));
  if (!parsed.success) throw new Problem(`${file} is not valid.`, parsed.issues.map(describeIssue));
  const { providers } = parsed.output;
  const problems = providers.flatMap((provider, index) => {
    const why = findContradiction(provider, providers.slice(0, index));
    return why === undefined ? [] : [`providers[${index}].${why}`];
  });
  if (problems.length > 0) throw new Problem(`${file} is not valid.`, problems);
  return providers;
}

function findContradiction(provider: FileProvider, earlier: readonly FileProvider[]): string | undefined {
  const { name, kind, base_url, key, headers, models, timeouts } = provider;
  if (earlier.some((other) => other.name === name)) return `name: ${name} is named twice`;
  if (["anthropic", "openai", "compatible"].includes(name) && kind !== name)
    return `name: ${name} is reserved for the kind ${name}`;
  if (kind === "compatible" && base_url === undefined) return "base_url: is required for the kind compatible";
  if (models === undefined && (base_url !== undefined || kind === "google"))
    return "models: is required, since the models of this provider are not known";
  if (kind !== "compatible" && key === undefined && headers === undefined)
    return 'key: is required, as a text, {"env": "NAME"} or {"file": "PATH"}';
  const { first_byte_seconds = 1, total_seconds = MAX_SECONDS } = timeouts ?? {};
  if (first_byte_seconds > total_seconds) return "timeouts.total_seconds: must be at least first_byte_seconds";
  return undefined;
}

/** Creates the reader of a provider's key. A file is read for each call, so that a new key takes effect without a restart. */
export function createKeyReader(
  { key }: FileProvider,
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
  const providers = readProviderFile(directory);
  const file = path.join(directory, PROVIDER_FILE);
  const missing = providers.flatMap((provider) => {
    const read = createKeyReader(provider, directory, environment);
    if (read === undefined || read() !== undefined) return [];
    const { name, key } = provider;
    const where = typeof key === "object" && "env" in key ? `the variable ${key.env}` : "its file";
    return [`The key of the model provider ${name} is missing: set ${where}. Its models fail until then.`];
  });
  const holdsKey = providers.some(({ key, headers }) => typeof key === "string" || headers !== undefined);
  const isReadable = holdsKey && (statSync(file).mode & 0o077) !== 0;
  return [
    ...(isReadable ? [`Other users can read ${file}, which can hold keys. Run: chmod 600 '${file}'`] : []),
    ...missing,
  ];
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Problem(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The rest of the message quotes the file, which can hold keys.
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length;
    throw new Problem(`${file} is not JSON${line === undefined ? "" : `: see line ${line}`}.`);
  }
}

const hasNoCredentials = (address: string): boolean => {
  const url = URL.parse(address);
  return url === null || (url.username === "" && url.password === "");
};

/** Names the member and what is wrong, without its value, which may be a key. */
function describeIssue(issue: v.BaseIssue<unknown>): string {
  const at = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  const why = issue.type === "strict_object" && issue.expected === "never" ? "is unknown; remove it" : hideValue(issue);
  return `${at.replace(/^\./, "") || "the file"}: ${why}`;
}

function hideValue({ kind, type, message, expected }: v.BaseIssue<unknown>): string {
  if (kind === "validation" && !message.startsWith("Invalid")) return message;
  if (type === "strict_object" && expected?.startsWith('"') === true) return `${expected} is missing`;
  return expected === null ? "is not valid" : `must be ${expected}`;
}
