import type { ModelApi } from "./transport.ts";

/** Chooses the API of a model by its id. */
export function chooseApi(modelId: string): ModelApi {
  if (modelId.startsWith("openai/")) return "responses";
  return modelId.startsWith("compatible/") ? "chat" : "messages";
}
