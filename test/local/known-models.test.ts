import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkModel, findModelError, models } from "#shared/models/models.ts";
import { localModels } from "../../server/host/models.ts";
import { findRunningServers, offerServers } from "../../server/host/running-servers.ts";
import { describeMissingModels, findMissingModels, rememberModels } from "../../server/known-models.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "runyard-known-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** What the start of the service does with its variables. */
async function start(environment: NodeJS.ProcessEnv) {
  for (const [name, value] of Object.entries(localModels(environment).variables)) vi.stubEnv(name, value);
  vi.stubEnv("MISSING_MODELS", "");
  const missing = findMissingModels(directory);
  await rememberModels(directory);
  return missing.map(({ id }) => id);
}

const COMPATIBLE = { RUNYARD_COMPATIBLE_BASE_URL: "http://127.0.0.1:1/v1", RUNYARD_COMPATIBLE_MODELS: "tiny,large" };

describe("models of an earlier start", () => {
  it("are listed as not available, and refused with the variable that is not set any more", async () => {
    expect(await start(COMPATIBLE)).toEqual([]);
    expect(findModelError({})).toBeUndefined();
    expect(await start({})).toEqual(["compatible/tiny", "compatible/large"]);
    const listed = models().find(({ id }) => id === "compatible/tiny");
    expect(listed).toMatchObject({ disable_reason: "PROVIDER_OUTAGE", description: expect.any(String) });
    const reason = /compatible\/tiny is not available: .*RUNYARD_COMPATIBLE_BASE_URL and RUNYARD_COMPATIBLE_MODELS/;
    expect(findModelError({ model_id: "compatible/tiny" })).toMatch(reason);
    expect(() => checkModel("compatible/tiny", "model_id")).toThrow(/RUNYARD_COMPATIBLE_BASE_URL/);
    expect(findModelError({}), "the embedded model must not take its place").toMatch(reason);
    expect(findModelError({ model_id: "local/runbook" })).toBeUndefined();
    expect(describeMissingModels(findMissingModels(directory))).toEqual([
      expect.stringMatching(/^The models compatible\/tiny, compatible\/large are not available, and schedules/),
    ]);
  });

  it("do not stand in the way of another default model, and of a provider that has other models now", async () => {
    await start(COMPATIBLE);
    expect(await start({ RUNYARD_ANTHROPIC_API_KEY: "key" })).toEqual(["compatible/tiny", "compatible/large"]);
    expect(findModelError({})).toBeUndefined();
    expect(await start({ ...COMPATIBLE, RUNYARD_COMPATIBLE_MODELS: "large" })).not.toContain("compatible/tiny");
    const missing = await start({});
    expect(missing).not.toContain("compatible/tiny");
    expect(missing).toContain("compatible/large");
  });

  it("are stored without keys and addresses, and not at all where there are none", async () => {
    await start({});
    expect(existsSync(path.join(directory, "known-models.json"))).toBe(false);
    await start({ ...COMPATIBLE, RUNYARD_COMPATIBLE_API_KEY: "secret" });
    const text = readFileSync(path.join(directory, "known-models.json"), "utf8");
    expect(text).toContain("compatible/tiny");
    expect(text).not.toMatch(/secret|127\.0\.0\.1/);
  });
});

/** A server on a port of this machine that has one response. */
async function serve(status: number, body: string, headers: Record<string, string> = {}) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, paths, [Symbol.dispose]: () => void server.close() };
}

describe("servers of models on this machine", () => {
  it("are found by the list of their models, and offered with the variables that configure them", async () => {
    const list = { object: "list", data: ["a", "b/c", "d", "e"].map((id) => ({ id, object: "model" })) };
    using server = await serve(200, JSON.stringify(list));
    using page = await serve(200, "<html>");
    using odd = await serve(200, JSON.stringify({ data: [{ id: "x; rm -rf ~" }] }));
    using moved = await serve(302, "", { location: `http://127.0.0.1:${server.port}/v1/models` });
    const found = await findRunningServers([
      ["Ollama", server.port],
      ["vLLM", page.port],
      ["LM Studio", odd.port],
      ["llama.cpp", moved.port],
    ]);
    const baseUrl = `http://127.0.0.1:${server.port}/v1`;
    expect(found).toEqual([{ program: "Ollama", baseUrl, models: ["a", "b/c", "d", "e"] }]);
    expect(server.paths, "and nothing else is sent").toEqual(["GET /v1/models"]);
    const variables = `RUNYARD_COMPATIBLE_BASE_URL=${baseUrl} RUNYARD_COMPATIBLE_MODELS=a,b/c,d`;
    expect(offerServers(found, [])).toEqual([
      `Ollama seems to run at ${baseUrl} with a,b/c,d and 1 more. To use it, restart with ${variables}, or list it in runyard.json.`,
    ]);
    expect(offerServers(found, [`http://localhost:${server.port}/v1`]), "it is configured").toEqual([]);
    expect(
      models().map(({ id }) => id),
      "it is not chosen",
    ).toEqual(["local/runbook"]);
  });
});
