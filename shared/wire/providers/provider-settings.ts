import * as v from "valibot";
import { CostStep, ModelCost } from "../model.ts";
import { FileRegistry } from "./registry-settings.ts";

/** The longest time-out: what is left of the longest call, which the model gateway reserves a budget for. */
const MAX_SECONDS = 800;
/** Headers that the request itself decides. */
const OWN_HEADERS = new Set(["host", "content-length", "content-type", "connection", "transfer-encoding"]);

const Text = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty"));
const Seconds = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_SECONDS, `must be at most ${MAX_SECONDS}`)),
);
const Tokens = v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)));
// Settings separate the names of models by commas.
const ModelName = v.pipe(Text, v.maxLength(200), v.regex(/^[^\s,=]+$/, "must have no space, comma or equals sign"));

const DescribedModel = v.strictObject({
  name: ModelName,
  display_name: v.exactOptional(Text),
  vision_supported: v.exactOptional(v.boolean()),
  context_tokens: Tokens,
  output_tokens: Tokens,
  tools: v.exactOptional(v.boolean()),
  cost: v.exactOptional(
    v.strictObject({ ...ModelCost.entries, steps: v.exactOptional(v.array(v.strictObject(CostStep.entries))) }),
  ),
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

const members = {
  name: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "must be 1 to 40 lower-case letters, digits and hyphens"),
    v.notValues(["local"], "is reserved; choose another name"),
  ),
  kind: v.picklist(["anthropic", "openai", "bedrock", "compatible", "google"]),
  base_url: v.exactOptional(BaseUrl),
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
};

const FileProvider = v.strictObject({
  ...members,
  key: v.exactOptional(v.union([Text, v.strictObject({ env: Text }), v.strictObject({ file: Text })])),
});
/** A provider of the file on a single machine. */
export type FileProvider = v.InferOutput<typeof FileProvider>;

const Parameter = v.pipe(v.string(), v.regex(/^(\/[\w.-]+)+$/, "must be the name of an SSM parameter, such as /a/b"));
/** A provider of a deployment on AWS, whose settings anybody with access to the account can read. */
export const DeployedProvider = v.strictObject({
  ...members,
  key: v.exactOptional(v.strictObject({ parameter: Parameter })),
});
export type DeployedProvider = v.InferOutput<typeof DeployedProvider>;

type ProviderSettings = FileProvider | DeployedProvider;

/** The providers of a value, or what is wrong with it, by the members of the value. */
export type ParsedProviders<P> = { readonly providers: readonly P[] } | { readonly problems: string[] };

/** What the file on a single machine has. */
type ParsedFile =
  | { readonly providers: readonly FileProvider[]; readonly registries: readonly FileRegistry[] }
  | { readonly problems: string[] };

/** Parses the content of the file on a single machine. */
export function parseFile(value: unknown): ParsedFile {
  const parsed = v.safeParse(v.looseObject({ registries: v.optional(v.array(FileRegistry), []) }), value);
  if (!parsed.success) return { problems: parsed.issues.map(describeIssue) };
  const { registries, ...rest } = parsed.output;
  const named = parsed.output.registries.map(({ host }) => host);
  const twice = named.findIndex((host, index) => named.indexOf(host) !== index);
  if (twice !== -1) return { problems: [`registries[${twice}].host: ${named[twice]} is named twice`] };
  const half = registries.findIndex(({ username, password }) => (username === undefined) !== (password === undefined));
  if (half !== -1) return { problems: [`registries[${half}]: username and password are required together`] };
  // A file of registries needs no models.
  const models = registries.length > 0 && !("providers" in rest) ? { ...rest, providers: [] } : rest;
  const found = parseProviders(FileProvider, models, 'a text, {"env": "NAME"} or {"file": "PATH"}');
  return "problems" in found ? found : { ...found, registries };
}

/** Parses the providers of a deployment on AWS, in an object like that of the file. */
export const parseDeployedProviders = (value: unknown): ParsedProviders<DeployedProvider> =>
  parseProviders(DeployedProvider, value, '{"parameter": "/NAME"}');

function parseProviders<P extends ProviderSettings>(
  schema: v.GenericSchema<unknown, P>,
  value: unknown,
  keys: string,
): ParsedProviders<P> {
  const parsed = v.safeParse(v.strictObject({ providers: v.array(schema) }), value);
  if (!parsed.success) return { problems: parsed.issues.map(describeIssue) };
  const { providers } = parsed.output;
  const problems = providers.flatMap((provider, index) => {
    const why = findContradiction(provider, providers.slice(0, index), keys);
    return why === undefined ? [] : [`providers[${index}].${why}`];
  });
  return problems.length > 0 ? { problems } : { providers };
}

/** What the rules of the service read of a provider: nothing secret, and no address. */
export const toNamedProvider = ({ name, kind, models, base_url }: ProviderSettings) => ({
  name,
  kind,
  ...(models !== undefined && { models }),
  // The address of Bedrock names a region.
  is_custom: base_url !== undefined && kind !== "bedrock",
});

/** What the model gateway reads of a provider to call it. */
export const toConnection = ({ models: _, ...connection }: DeployedProvider) => connection;

function findContradiction(
  provider: ProviderSettings,
  earlier: readonly ProviderSettings[],
  keys: string,
): string | undefined {
  const { name, kind, base_url, key, headers, models, timeouts } = provider;
  if (earlier.some((other) => other.name === name)) return `name: ${name} is named twice`;
  if (["anthropic", "openai", "bedrock", "compatible"].includes(name) && kind !== name)
    return `name: ${name} is reserved for the kind ${name}`;
  if (kind === "compatible" && base_url === undefined) return "base_url: is required for the kind compatible";
  if (kind === "bedrock" && base_url === undefined)
    return "base_url: is required for the kind bedrock, such as https://bedrock-runtime.us-east-1.amazonaws.com";
  if (models === undefined && kind !== "bedrock" && (base_url !== undefined || kind === "google"))
    return "models: is required, since the models of this provider are not known";
  if (kind !== "compatible" && key === undefined && headers === undefined) return `key: is required, as ${keys}`;
  if (kind !== "compatible" && models?.some((model) => "tools" in model) === true)
    return "models: tools is only for the kind compatible";
  const { first_byte_seconds = 1, total_seconds = MAX_SECONDS } = timeouts ?? {};
  if (first_byte_seconds > total_seconds) return "timeouts.total_seconds: must be at least first_byte_seconds";
  return undefined;
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
