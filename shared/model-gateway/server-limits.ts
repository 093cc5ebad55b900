import * as v from "valibot";
import type { ModelLimits } from "#shared/model-provider/model-limits.ts";

const Tokens = v.pipe(v.number(), v.integer(), v.minValue(1));
const MaybeTokens = v.fallback(v.optional(Tokens), undefined);
/** An entry of `GET /v1/models`, with the members of vLLM, SGLang, OpenRouter, Groq, Mistral, LM Studio and llama.cpp. */
const Entry = v.object({
  id: v.string(),
  context_length: MaybeTokens,
  max_model_len: MaybeTokens,
  context_window: MaybeTokens,
  max_context_length: MaybeTokens,
  loaded_context_length: MaybeTokens,
  max_completion_tokens: MaybeTokens,
  max_output_tokens: MaybeTokens,
  top_provider: v.fallback(v.nullish(v.object({ max_completion_tokens: MaybeTokens })), undefined),
  meta: v.fallback(v.nullish(v.object({ n_ctx: MaybeTokens })), undefined),
});
const ModelList = v.object({ data: v.array(v.unknown()) });
/** llama.cpp: the window of one slot, which is the server's divided by the number of slots, and what the template of the model can. */
const Props = v.object({
  default_generation_settings: v.object({ n_ctx: Tokens }),
  chat_template_caps: v.fallback(v.optional(v.object({ supports_tools: v.optional(v.boolean()) })), undefined),
});
/** Ollama: `num_ctx` is the window that it uses, and the model's own is the most that it could use. */
const Shown = v.object({
  parameters: v.optional(v.string()),
  capabilities: v.fallback(v.optional(v.array(v.string())), undefined),
  model_info: v.optional(v.record(v.string(), v.unknown())),
});
/** Text Generation Inference. */
const Info = v.object({ max_total_tokens: Tokens });

/** Requests a path of the server, with a body by POST; undefined if there is no JSON at it. */
export type ReadServer = (url: string, body?: object) => Promise<unknown>;

/** Reads the limits of a model from the server at this base URL, as far as the server knows them. */
export async function readServerLimits(baseUrl: string, model: string, read: ReadServer): Promise<ModelLimits> {
  const entry = findEntry(await read(`${baseUrl}/models`), model);
  const outputTokens =
    entry?.max_output_tokens ?? entry?.max_completion_tokens ?? entry?.top_provider?.max_completion_tokens;
  const stated =
    entry?.loaded_context_length ??
    entry?.context_length ??
    entry?.max_model_len ??
    entry?.context_window ??
    entry?.max_context_length;
  const own = stated === undefined ? await readOwnApis(baseUrl, model, read) : {};
  const contextTokens = stated ?? own.contextTokens ?? entry?.meta?.n_ctx;
  return {
    ...own,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
}

function findEntry(list: unknown, model: string): v.InferOutput<typeof Entry> | undefined {
  // Together's list has no object around it.
  const found: unknown = Array.isArray(list) ? { data: list } : list;
  if (!v.is(ModelList, found)) return undefined;
  const entries = found.data
    .map((entry) => v.safeParse(Entry, entry))
    .flatMap((parsed) => (parsed.success ? [parsed.output] : []));
  // A server with one model, such as llama.cpp's, accepts any name.
  return entries.find(({ id }) => id === model) ?? (entries.length === 1 ? entries[0] : undefined);
}

async function readOwnApis(baseUrl: string, model: string, read: ReadServer): Promise<ModelLimits> {
  const root = baseUrl.replace(/\/v1$/, "");
  const [props, shown, listed, info] = await Promise.all([
    read(`${root}/props`),
    read(`${root}/api/show`, { model }),
    read(`${root}/api/v0/models`),
    read(`${root}/info`),
  ]);
  if (v.is(Props, props)) {
    const { supports_tools: tools } = props.chat_template_caps ?? {};
    return { contextTokens: props.default_generation_settings.n_ctx, ...(tools !== undefined && { tools }) };
  }
  const loaded = findEntry(listed, model);
  const window = loaded?.loaded_context_length ?? loaded?.max_context_length;
  if (window !== undefined) return { contextTokens: window };
  if (v.is(Info, info)) return { contextTokens: info.max_total_tokens };
  if (!v.is(Shown, shown)) return {};
  const tools = shown.capabilities && { tools: shown.capabilities.includes("tools") };
  const used = Number(/^num_ctx\s+(\d+)/m.exec(shown.parameters ?? "")?.[1]);
  if (used > 0) return { contextTokens: used, ...tools };
  const [, length] = Object.entries(shown.model_info ?? {}).find(([name]) => name.endsWith(".context_length")) ?? [];
  return { ...(v.is(Tokens, length) && { contextTokens: length }), ...tools };
}
