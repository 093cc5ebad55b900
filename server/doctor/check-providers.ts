import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat } from "#shared/model-gateway/openai-dialects.ts";
import { models } from "#shared/models/models.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { localModels } from "../host/models.ts";
import { modelProviders } from "../model-providers.ts";
import { type Check, failed, ok, warning } from "./check.ts";

const TIMEOUT_MS = 30_000;
const MAX_DETAIL = 200;

const PROVIDERS = [
  { name: "anthropic", dialect: messages, tokens: { max_tokens: 1 }, key: "RUNYARD_ANTHROPIC_API_KEY" },
  // The smallest limit that OpenAI's models accept.
  { name: "openai", dialect: chat, tokens: { max_completion_tokens: 16 }, key: "RUNYARD_OPENAI_API_KEY" },
  { name: "compatible", dialect: chat, tokens: { max_tokens: 1 }, key: "RUNYARD_COMPATIBLE_API_KEY" },
] as const;

/** Calls each configured model provider once, with its first model and the shortest response. */
export async function checkProviders(environment: NodeJS.ProcessEnv, timeoutMs = TIMEOUT_MS): Promise<Check[]> {
  // The names of models are read from the settings, as in the server.
  Object.assign(process.env, localModels(environment).variables);
  const providers = modelProviders(environment);
  const configured = PROVIDERS.filter(({ name }) => providers[name] !== undefined);
  if (configured.length === 0) {
    return [
      warning(
        "models",
        "no model provider is configured: only fenced shell blocks run",
        "Set RUNYARD_ANTHROPIC_API_KEY or another one of docs/models.md.",
      ),
    ];
  }
  const secrets = configured.flatMap(({ key }) => environment[key]?.trim() || []);
  const hide = (text: string): string => hideCredentials(text, secrets);
  return Promise.all(configured.map(checkProvider));

  async function checkProvider({ name, dialect, tokens, key }: (typeof PROVIDERS)[number]): Promise<Check> {
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
      const text = hide(await response.text()).slice(0, MAX_DETAIL);
      if (response.ok) return ok(label, `${model} responded after ${Math.round(performance.now() - began)} ms`);
      return failed(label, `${model}: ${response.status} ${text}`, remedyFor(response.status, key));
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === "TimeoutError";
      const detail = isTimeout ? `no response within ${timeoutMs / 1000} s` : hide(describe(error));
      return failed(label, `${model}: ${detail}`, "Check the network, the proxy and the address of the provider.");
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
