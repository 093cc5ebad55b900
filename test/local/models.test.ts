import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";
import { localModels } from "../../server/host/models.ts";

describe("localModels", () => {
  it("has the providers of the environment, and passes no key to the deployment", () => {
    const models = localModels({
      RUNYARD_ANTHROPIC_API_KEY: "sk-ant-1",
      RUNYARD_OPENAI_API_KEY: "sk-2",
      RUNYARD_COMPATIBLE_BASE_URL: "http://127.0.0.1:11434/v1",
      RUNYARD_COMPATIBLE_MODELS: "llama,qwen",
      RUNYARD_MODEL_PRICES: "compatible/llama=1/2",
    });
    expect(models).toMatchObject({
      variables: { MODEL_PROVIDERS: "anthropic,openai,compatible", COMPATIBLE_MODELS: "llama,qwen" },
      anthropicKey: "sk-ant-1",
      openaiKey: "sk-2",
      compatible: { baseUrl: "http://127.0.0.1:11434/v1" },
    });
    expect(models.context).toMatchObject({
      compatibleBaseUrl: "http://127.0.0.1:11434/v1",
      modelPrices: "compatible/llama=1/2",
    });
    expect(JSON.stringify([models.context, models.variables])).not.toMatch(/sk-/);
  });

  it("has none without settings, or for a server without models", () => {
    expect(localModels({}).context).toEqual({});
    expect(localModels({ RUNYARD_COMPATIBLE_BASE_URL: "http://x/v1", ANTHROPIC_API_KEY: "sk" }).context).toEqual({});
  });
});

describe("the local proxy's route to models", () => {
  let door: HttpProxy;
  const seen: string[] = [];
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  beforeAll(async () => {
    door = await startHttpProxy({ port: 0, webDirectory: "/nowhere" });
  });
  afterAll(() => door.close());

  it("responds 503 with Retry-After while the service is starting", async () => {
    const response = await fetch(`http://127.0.0.1:${door.port}/api/v1/model/openai/v1/responses`, { method: "POST" });
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    await response.body?.cancel();
  });

  it("streams responses as they arrive", async () => {
    async function* body() {
      yield new TextEncoder().encode("one ");
      await promise;
      yield new TextEncoder().encode("two");
    }
    door.serveModels(async (request) => {
      seen.push(new URL(request.url).pathname, await request.text());
      return new Response(ReadableStream.from(body()), { headers: { "content-type": "text/event-stream" } });
    });
    const address = `http://127.0.0.1:${door.port}/api/v1/model/anthropic/v1/messages`;
    const response = await fetch(address, { method: "POST", body: "hello" });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("one ");
    goOn();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("two");
    expect(seen).toEqual(["/api/v1/model/anthropic/v1/messages", "hello"]);
  });
});
