import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  BedrockRuntimeServiceException,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  type ResponseStream,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import type { ModelProvider, ProviderCall } from "#shared/model-provider/model-provider.ts";

/** Tries once: who calls models tries again by rules of its own, the same for all providers. */
export const bedrockClient = (config: BedrockRuntimeClientConfig = {}): BedrockRuntimeClient =>
  // Its default is HTTP/2, whose one connection does not outlive the time for which Lambda freezes a function between calls.
  new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: new NodeHttpHandler(), ...config });

/** Amazon Bedrock, whose models of Anthropic are spoken to in the Messages API: the model is named beside the body, not in it. */
export const bedrock =
  (client: BedrockRuntimeClient): ModelProvider =>
  async (call) => {
    try {
      return await invoke(client, call);
    } catch (error) {
      if (!(error instanceof BedrockRuntimeServiceException)) throw error;
      const status = error.$metadata.httpStatusCode ?? 500;
      return Response.json(call.dialect.error(status, `Bedrock: ${error.message}`), { status });
    }
  };

async function invoke(client: BedrockRuntimeClient, { request, headers, signal }: ProviderCall): Promise<Response> {
  const { model, stream, ...rest } = request;
  const betas = headers["anthropic-beta"]?.split(",").map((beta) => beta.trim());
  const body = {
    anthropic_version: "bedrock-2023-05-31",
    ...(betas === undefined ? {} : { anthropic_beta: betas }),
    ...rest,
  };
  const json = "application/json";
  const input = { modelId: model, contentType: json, accept: json, body: JSON.stringify(body) };
  const options = { abortSignal: signal };
  if (stream !== true) {
    const answer = await client.send(new InvokeModelCommand(input), options);
    return new Response(Buffer.from(answer.body), { headers: { "content-type": json } });
  }
  const answer = await client.send(new InvokeModelWithResponseStreamCommand(input), options);
  return new Response(ReadableStream.from(eventsOf(answer.body ?? [])), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** The events of Bedrock's own framing as those of the Messages API. One that is an error throws. */
async function* eventsOf(
  parts: AsyncIterable<ResponseStream> | readonly ResponseStream[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  for await (const part of parts) {
    const bytes = part.chunk?.bytes;
    if (bytes === undefined)
      throw Object.values(part).find((member) => member instanceof Error) ?? new Error("no data");
    const event: unknown = JSON.parse(Buffer.from(bytes).toString());
    const { "amazon-bedrock-invocationMetrics": _, type, ...rest }: Record<string, unknown> = Object(event);
    yield encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  }
}
