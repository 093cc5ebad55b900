import * as v from "valibot";
import type { Dialect } from "#shared/model-gateway/dialect.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat } from "#shared/model-gateway/openai-dialects.ts";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";
import { models } from "#shared/models/models.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { type LocalProvider, localModels } from "../host/models.ts";
import { findFileWarnings, PROVIDER_FILE } from "../host/provider-file.ts";
import { Problem } from "../host/terminal.ts";
import { describeMissingModels, findMissingModels } from "../known-models.ts";
import { modelProviders } from "../model-providers.ts";
import { type Check, failed, ok, warning } from "./check.ts";

const TIMEOUT_MS = 30_000;
const MAX_DETAIL = 200;

interface ProbedProvider {
  readonly name: string;
  readonly dialect: Dialect;
  readonly tokens: object;
  /** Where its key is set. */
  readonly key: string;
  readonly secret?: string | undefined;
}

const COMPATIBLE: ProbedProvider = {
  name: "compatible",
  dialect: chat,
  tokens: { max_tokens: 1 },
  key: "RUNYARD_COMPATIBLE_API_KEY",
};

const PROVIDERS: readonly ProbedProvider[] = [
  { name: "anthropic", dialect: messages, tokens: { max_tokens: 1 }, key: "RUNYARD_ANTHROPIC_API_KEY" },
  // The smallest limit that OpenAI's models accept.
  { name: "openai", dialect: chat, tokens: { max_completion_tokens: 16 }, key: "RUNYARD_OPENAI_API_KEY" },
  { name: "bedrock", dialect: messages, tokens: { max_tokens: 1 }, key: PROVIDER_FILE },
  COMPATIBLE,
];

/** Probes the provider of the file as one of its kind. */
function toProbed({ name, kind, readKey }: LocalProvider): ProbedProvider {
  const definition = PROVIDERS.find((provider) => provider.name === kind) ?? COMPATIBLE;
  return { ...definition, name, key: PROVIDER_FILE, secret: readKey?.() };
}

interface ProbeOptions {
  readonly timeoutMs?: number | undefined;
  /** The data directory, whose file may list providers. */
  readonly directory?: string;
  /** The service that runs on this directory, and a key for it. */
  readonly service?: { readonly baseUrl: string; readonly key: string } | undefined;
}

/**
 * Checks the file of providers, and calls each configured provider once, with its first model and the shortest response.
 */
export async function checkProviders(environment: NodeJS.ProcessEnv, options: ProbeOptions = {}): Promise<Check[]> {
  try {
    const { directory } = options;
    const warnings = directory === undefined ? [] : findFileWarnings(directory, environment);
    const found = warnings.map((line) => warning(PROVIDER_FILE, line, "See docs/models.md."));
    const called = await callProviders(environment, options);
    return [...found, ...called, ...checkMissing(directory), ...(await compareWithService(options))];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [
      failed(PROVIDER_FILE, [error.message, ...error.details].join(" "), "Correct it; docs/models.md has an example."),
    ];
  }
}

function checkMissing(directory: string | undefined): Check[] {
  const lines = directory === undefined ? [] : describeMissingModels(findMissingModels(directory));
  return lines.map((line) => warning("missing models", line, "Start the service with the same variables."));
}

const Listed = v.object({ models: v.array(v.object({ id: v.string(), disable_reason: v.exactOptional(v.string()) })) });

/** Compares the models that the file and the variables configure with those that the running service offers. */
async function compareWithService({ service, timeoutMs = TIMEOUT_MS }: ProbeOptions): Promise<Check[]> {
  if (service === undefined) return [];
  const request = { headers: { authorization: `Bearer ${service.key}` }, signal: AbortSignal.timeout(timeoutMs) };
  const response = await fetch(`${service.baseUrl}/agent/models`, request).catch(() => undefined);
  const parsed = v.safeParse(Listed, response?.ok === true ? await response.json() : undefined);
  // The check of the port reports a service that does not respond.
  if (!parsed.success) return [];
  const offered = parsed.output.models.filter((model) => model.disable_reason === undefined).map(({ id }) => id);
  const configured = models()
    .filter((model) => model.disable_reason === undefined)
    .map(({ id }) => id);
  const added = configured.filter((id) => !offered.includes(id));
  const removed = offered.filter((id) => !configured.includes(id));
  if (added.length + removed.length === 0)
    return [ok("running models", "the service offers the models of the settings")];
  const parts = [
    ...(added.length === 0 ? [] : [`the running service does not offer ${added.join(", ")}`]),
    ...(removed.length === 0 ? [] : [`only the running service offers ${removed.join(", ")}`]),
  ];
  const remedy = `Restart the service if ${PROVIDER_FILE} has changed; run doctor with the variables of the service.`;
  return [warning("running models", parts.join("; "), remedy)];
}

async function callProviders(
  environment: NodeJS.ProcessEnv,
  { timeoutMs = TIMEOUT_MS, directory }: ProbeOptions,
): Promise<Check[]> {
  const { variables, named } = localModels(environment, directory);
  // The names of models are read from the settings, as in the server.
  Object.assign(process.env, variables);
  const providers = modelProviders(environment, directory);
  const inFile = new Set(named.map(({ name }) => name));
  const configured = [
    ...PROVIDERS.filter(({ name }) => providers[name] !== undefined && !inFile.has(name)),
    ...named.map(toProbed),
  ];
  if (configured.length === 0) {
    return [
      warning(
        "models",
        "no model provider is configured: only fenced shell blocks run",
        "Set RUNYARD_ANTHROPIC_API_KEY or another one of docs/models.md.",
      ),
    ];
  }
  const secrets = configured.flatMap(({ key, secret }) => secret ?? (environment[key]?.trim() || []));
  const hide = (text: string): string => hideCredentials(text, secrets);
  return Promise.all(configured.map(checkProvider));

  async function checkProvider({ name, dialect, tokens, key }: ProbedProvider): Promise<Check> {
    const send = providers[name];
    const model = models()
      .find(({ id }) => id.startsWith(`${name}/`))
      ?.id.slice(name.length + 1);
    const label = `model ${name}`;
    if (send === undefined || model === undefined) {
      return failed(label, "offers no model", "Name its models in RUNYARD_COMPATIBLE_MODELS.");
    }
    const request = { model, messages: [{ role: "user", content: "Reply with OK." }], ...tokens };
    const began = performance.now();
    try {
      const response = await send({ dialect, request, headers: {}, signal: AbortSignal.timeout(timeoutMs) });
      // Credentials are hidden in all of it, since a cut can leave a part of one.
      const body = await response.text();
      const text = (send.hide?.(hide(body)) ?? hide(body)).slice(0, MAX_DETAIL);
      if (response.ok) return ok(label, `${model} responded after ${Math.round(performance.now() - began)} ms`);
      return failed(label, `${model}: ${response.status} ${text}`, remedyFor(response.status, key));
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === "TimeoutError";
      const detail = isTimeout ? `no response within ${timeoutMs / 1000} s` : hide(describe(error));
      const remedy =
        error instanceof NotConfigured
          ? `Correct the provider in ${key}.`
          : "Check the network, the proxy and the address of the provider.";
      return failed(label, `${model}: ${detail}`, remedy);
    }
  }
}

/** Some providers repeat the key in their errors, and those of the network name a proxy with its password. */
const hideCredentials = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), maskUrlUsers(text));

function remedyFor(status: number, key: string): string {
  if (status === 401 || status === 403) return `Check the key in ${key}.`;
  if (status === 402) return "Add credit to the account of the provider.";
  if (status === 404)
    return "The provider does not have this model, or not at this address. Check the name and the address.";
  if (status === 429) return "The account has reached its limit or has no credit. Raise the limit, or try again later.";
  if (status >= 500) return "The provider has a problem. Try again later.";
  return "Check the model and its provider's documentation.";
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
