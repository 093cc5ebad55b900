import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  BedrockRuntimeServiceException,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  type ResponseStream,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { findBedrockRemedy } from "#shared/model-provider/bedrock-remedies.ts";
import { toBedrockBody } from "#shared/model-provider/bedrock-request.ts";
import { type ModelProvider, type ProviderCall, REMEDY_HEADER } from "#shared/model-provider/model-provider.ts";

/** Creates a client without retries, since the gateway retries the calls of all providers by the same rules. */
export const bedrockClient = (config: BedrockRuntimeClientConfig = {}): BedrockRuntimeClient =>
  // The default is HTTP/2, whose single connection breaks when Lambda freezes the function between calls.
  new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: new NodeHttpHandler(), ...config });

/** Creates the provider for Amazon Bedrock, whose Anthropic models use the Messages API, with the model outside the body. */
export const bedrock =
  (client: BedrockRuntimeClient): ModelProvider =>
  async (call) => {
    try {
      return await invoke(client, call);
    } catch (error) {
      if (!(error instanceof BedrockRuntimeServiceException)) throw error;
      const status = error.$metadata.httpStatusCode ?? 500;
      const remedy = findBedrockRemedy(error);
      const headers: Record<string, string> = remedy === undefined ? {} : { [REMEDY_HEADER]: remedy };
      return Response.json(call.dialect.error(status, error.message), { status, headers });
    }
  };

async function invoke(client: BedrockRuntimeClient, call: ProviderCall): Promise<Response> {
  const { request, signal } = call;
  const json = "application/json";
  const input = { modelId: request.model, contentType: json, accept: json, body: toBedrockBody(call) };
  const options = { abortSignal: signal };
  if (request.stream !== true) {
    const response = await client.send(new InvokeModelCommand(input), options);
    return new Response(Buffer.from(response.body), { headers: { "content-type": json } });
  }
  const result = await client.send(new InvokeModelWithResponseStreamCommand(input), options);
  return new Response(ReadableStream.from(readEvents(result.body ?? [])), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** Converts Bedrock's events to those of the Messages API. Throws on an error event. */
async function* readEvents(
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
