import { setTimeout as wait } from "node:timers/promises";
import { vi } from "vitest";
import { eventSources } from "#infra/event-sources.ts";
import { bedrock, bedrockClient } from "#shared/aws/bedrock-provider.ts";
import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { type GatewayPorts, modelGateway } from "#shared/model-gateway/gateway.ts";
import { anthropic, openai } from "#shared/model-gateway/provider.ts";
import type { TestControlPlane } from "./control-plane.ts";
import type { ModelStandIn } from "./model-stand-in.ts";
import { withRights } from "./rights.ts";

/** Settings of a deployment with all kinds of providers; it sets the price of OpenAI's model. */
export const MODEL_SETTINGS = {
  MODEL_PROVIDERS: "anthropic,openai,bedrock,compatible",
  COMPATIBLE_MODELS: "llama",
  MODEL_PRICES: "openai/gpt-5.4=1.5/6",
} as const;

/** Sets the settings of the model providers for a test, until `vi.unstubAllEnvs()`. */
export function stubModelSettings(): void {
  for (const [name, value] of Object.entries(MODEL_SETTINGS)) vi.stubEnv(name, value);
}

export const SONNET = "anthropic/claude-sonnet-5-5";

type StandInUrls = Pick<ModelStandIn, "anthropicUrl" | "openaiUrl" | "bedrockUrl">;

/** Creates the model gateway with a stand-in for all providers and only its function's rights. Pauses are short. */
export function createGateway(
  plane: TestControlPlane,
  standIn: StandInUrls,
  times?: GatewayPorts["times"],
  replaced: Partial<GatewayPorts> = {},
) {
  const pauses: number[] = [];
  const logged: Parameters<GatewayPorts["log"]>[] = [];
  const key = (value: string) => async () => value;
  const serve = modelGateway({
    ...plane.ports,
    log: (...line) => void logged.push(line),
    sleep: async (milliseconds) => {
      pauses.push(milliseconds);
      plane.clock.now += milliseconds;
      await wait(1);
    },
    providers: {
      anthropic: anthropic(standIn.anthropicUrl, key("the-key-of-anthropic")),
      openai: openai(standIn.openaiUrl, key("the-key-of-openai")),
      compatible: compatibleServer(standIn.openaiUrl),
      bedrock: bedrock(
        bedrockClient({
          endpoint: standIn.bedrockUrl,
          region: "us-east-1",
          credentials: { accessKeyId: "test", secretAccessKey: "test" },
        }),
      ),
    },
    ...(times === undefined ? {} : { times }),
    ...replaced,
  });
  const { file, rights } = eventSources.callModel;

  async function call(
    path: string,
    key: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const request = new Request(`${plane.ports.baseUrl}/model${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return withRights(file, rights, () => serve(request));
  }

  return {
    serve,
    call,
    /** Milliseconds that the gateway has waited, each time. */
    pauses,
    /** Level, message and members of each line of the log. */
    logged,
    messages: (key: string, body: object = {}, headers?: Record<string, string>) =>
      call("/anthropic/v1/messages", key, { model: SONNET, max_tokens: 1_000, messages: hello, ...body }, headers),
    chat: (key: string, body: object = {}) =>
      call("/openai/v1/chat/completions", key, { model: "openai/gpt-5.4", messages: hello, ...body }),
    responses: (key: string, body: object = {}) =>
      call("/openai/v1/responses", key, { model: "openai/gpt-5.4", input: "hello", ...body }),
  };
}
export type Gateway = ReturnType<typeof createGateway>;

const hello = [{ role: "user", content: "hello" }];

/** Returns the data of the events in a streamed response. */
export async function eventsIn(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined);
}
