import type { ProviderCall } from "./model-provider.ts";

/** The body of a request to Amazon Bedrock. The model and the kind of the response are in its URL. */
export function toBedrockBody({ request, headers }: Pick<ProviderCall, "request" | "headers">): string {
  const { model: _, stream: __, ...rest } = request;
  const betas = headers["anthropic-beta"]?.split(",").map((beta) => beta.trim());
  return JSON.stringify({
    anthropic_version: "bedrock-2023-05-31",
    ...(betas === undefined ? {} : { anthropic_beta: betas }),
    ...rest,
  });
}
