import { type FileProvider, toNamedProvider } from "#shared/wire/providers/provider-settings.ts";
import { createKeyReader, readProviderFile } from "./provider-file.ts";
import { Problem } from "./terminal.ts";

/** The providers of models that the local cloud has, as the environment of `npm run emulator` names them. */
export interface LocalModels {
  /** Settings for the deployment, without keys. */
  readonly context: Readonly<Record<string, string>>;
  /** The same as environment variables, for settings read in this process. */
  readonly variables: Readonly<Record<string, string>>;
  readonly anthropicKey?: string;
  readonly openaiKey?: string;
  /** Providers of the file in the data directory. */
  readonly named: readonly LocalProvider[];
  readonly compatible?: { readonly baseUrl: string; readonly key?: string; readonly timeoutMs?: number };
}

/** A provider of the file, with the reader of its key. */
export interface LocalProvider extends FileProvider {
  readonly readKey: (() => string | undefined) | undefined;
}

/** Addresses are shown, logged and sent in errors; a credential in one would be too. */
function refuseCredentials(address: string): void {
  const url = URL.parse(address);
  if (url === null || (url.username === "" && url.password === "")) return;
  throw new Problem("RUNYARD_COMPATIBLE_BASE_URL contains a user name or a password.", [
    "Remove them from the URL, and set RUNYARD_COMPATIBLE_API_KEY if the provider needs a key.",
  ]);
}

function readTimeoutMs(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 800) return seconds * 1_000;
  throw new Problem("RUNYARD_COMPATIBLE_TIMEOUT_SECONDS must be a whole number of seconds from 1 to 800.");
}

/**
 * Reads the providers from the environment and from the file in the data directory, of which the environment takes precedence; keys
 * stay in this process and are written nowhere.
 */
export function localModels(environment: NodeJS.ProcessEnv, directory?: string): LocalModels {
  const value = (name: string): string | undefined => environment[`RUNYARD_${name}`]?.trim() || undefined;
  const anthropicKey = value("ANTHROPIC_API_KEY");
  const openaiKey = value("OPENAI_API_KEY");
  const baseUrl = value("COMPATIBLE_BASE_URL");
  if (baseUrl !== undefined) refuseCredentials(baseUrl);
  const compatibleModels = value("COMPATIBLE_MODELS");
  const compatibleKey = value("COMPATIBLE_API_KEY");
  const modelPrices = value("MODEL_PRICES");
  const modelLimits = value("MODEL_LIMITS");
  const timeoutSeconds = value("COMPATIBLE_TIMEOUT_SECONDS");
  const compatible =
    baseUrl !== undefined && compatibleModels !== undefined ? { baseUrl, compatibleModels } : undefined;
  const providers = [
    ...(anthropicKey === undefined ? [] : ["anthropic"]),
    ...(openaiKey === undefined ? [] : ["openai"]),
    ...(compatible === undefined ? [] : ["compatible"]),
  ];
  const named = directory === undefined ? [] : readNamed(directory, environment, providers);
  return {
    named,
    context: {
      // Names only: nothing here reads the parameters.
      ...(anthropicKey !== undefined && { anthropicKeyParameter: "/runyard/local/anthropic" }),
      ...(openaiKey !== undefined && { openaiKeyParameter: "/runyard/local/openai" }),
      ...(compatible !== undefined && {
        compatibleBaseUrl: compatible.baseUrl,
        compatibleModels: compatible.compatibleModels,
      }),
      ...(modelPrices !== undefined && { modelPrices }),
      ...(modelLimits !== undefined && { modelLimits }),
    },
    variables: {
      MODEL_PROVIDERS: providers.join(","),
      NAMED_PROVIDERS: named.length === 0 ? "" : JSON.stringify(named.map(toNamedProvider)),
      COMPATIBLE_MODELS: compatible?.compatibleModels ?? "",
      MODEL_PRICES: modelPrices ?? "",
      MODEL_LIMITS: modelLimits ?? "",
    },
    ...(anthropicKey !== undefined && { anthropicKey }),
    ...(openaiKey !== undefined && { openaiKey }),
    ...(compatible !== undefined && {
      compatible: {
        baseUrl: compatible.baseUrl,
        ...(compatibleKey !== undefined && { key: compatibleKey }),
        ...(timeoutSeconds !== undefined && { timeoutMs: readTimeoutMs(timeoutSeconds) }),
      },
    }),
  };
}

const readNamed = (directory: string, environment: NodeJS.ProcessEnv, taken: readonly string[]): LocalProvider[] =>
  readProviderFile(directory)
    .filter(({ name }) => !taken.includes(name))
    .map((provider) => ({ ...provider, readKey: createKeyReader(provider, directory, environment) }));

/** The addresses of the configured servers. */
export function listAddresses(environment: NodeJS.ProcessEnv, directory: string): readonly string[] {
  const { compatible, named } = localModels(environment, directory);
  return [compatible?.baseUrl, ...named.map(({ base_url }) => base_url)].filter((address) => address !== undefined);
}
