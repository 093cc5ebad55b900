import { createServer } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkProviders } from "#server/doctor/check-providers.ts";
import { localModels } from "../../server/host/models.ts";
import { Problem } from "../../server/host/terminal.ts";

const read = (url: string) =>
  localModels({ RUNYARD_COMPATIBLE_BASE_URL: url, RUNYARD_COMPATIBLE_MODELS: "tiny", RUNYARD_COMPATIBLE_API_KEY: "k" });

/** What an error shows. */
function describeRefusal(url: string): string {
  try {
    read(url);
  } catch (error) {
    if (error instanceof Problem) return [error.message, ...error.details].join("\n");
    throw error;
  }
  return "";
}

describe("the address of a model provider", () => {
  it.each([
    "https://user:hunter2@models.example/v1",
    "https://hunter2@models.example/v1",
    "https://:hunter2@models.example/v1",
    "http://user:hunter2@127.0.0.1:11434/v1",
  ])("is refused with a credential, which the error does not show: %s", (url) => {
    const shown = describeRefusal(url);
    expect(shown).toMatch(/RUNYARD_COMPATIBLE_BASE_URL.*RUNYARD_COMPATIBLE_API_KEY/s);
    expect(shown).not.toContain("hunter2");
  });

  it("is accepted without one", () => {
    expect(read("https://models.example/v1?a=b@c").compatible?.baseUrl).toBe("https://models.example/v1?a=b@c");
  });
});

describe("the doctor", () => {
  const key = `secret-${"k".repeat(40)}`;
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
    vi.unstubAllEnvs();
  });

  /** A provider that refuses each request with a text of its own. Returns its base URL. */
  async function startProvider(text: string): Promise<string> {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(401).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stops.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const address = server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`;
  }

  it.each([
    ["a key", `invalid key ${key}`, "invalid key ***"],
    // The key is cut if it is hidden afterwards.
    ["a key at the end of what is shown", `${"x".repeat(180)}${key}`, "xxx***"],
    ["the password of a proxy", "no route via http://me:hunter2@proxy.example:3128", "http://***@proxy.example:3128"],
  ])("hides %s in the response of a provider", async (_, text, shown) => {
    vi.stubEnv("MODEL_PROVIDERS", "");
    vi.stubEnv("COMPATIBLE_MODELS", "");
    vi.stubEnv("MODEL_PRICES", "");
    const [check] = await checkProviders({
      ...{ RUNYARD_COMPATIBLE_BASE_URL: await startProvider(text), RUNYARD_COMPATIBLE_MODELS: "tiny" },
      RUNYARD_COMPATIBLE_API_KEY: key,
    });
    expect(check).toMatchObject({ status: "failed", detail: expect.stringContaining(shown) });
    expect(check?.detail).not.toMatch(/secret-k|hunter2/);
  });
});
