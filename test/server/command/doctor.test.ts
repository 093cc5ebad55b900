import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { checkNode, checkPort, checkPrograms } from "#server/doctor/check-host.ts";
import { checkProviders } from "#server/doctor/check-providers.ts";
import { firstFreePort } from "../../../server/host/ports.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A model provider that responds with a status, or never. Returns its base URL. */
async function startProvider(status: number | undefined): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (status !== undefined) response.writeHead(status, { "content-type": "application/json" }).end('{"text":"x"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return `http://127.0.0.1:${address.port}/v1`;
}

const checkCompatible = async (url: string, timeoutMs?: number) =>
  checkProviders({ RUNYARD_COMPATIBLE_BASE_URL: url, RUNYARD_COMPATIBLE_MODELS: "tiny" }, { timeoutMs });

describe("the doctor's check of a model provider", () => {
  it.each([
    [200, "ok", undefined],
    [401, "failed", "Check the key in RUNYARD_COMPATIBLE_API_KEY."],
    [404, "failed", "does not have this model"],
    [429, "failed", "has reached its limit"],
    [503, "failed", "Try again later"],
  ])("reports a status of %i as %s, with the remedy", async (status, expected, remedy) => {
    const [check] = await checkCompatible(await startProvider(status));
    expect(check).toMatchObject({ name: "model compatible", status: expected });
    expect(check?.remedy ?? "").toContain(remedy ?? "");
  });

  it("reports a provider that does not respond, or cannot be reached", async () => {
    const [silent] = await checkCompatible(await startProvider(undefined), 50);
    expect(silent).toMatchObject({ status: "failed", detail: expect.stringContaining("no response within") });
    const [missing] = await checkCompatible("http://127.0.0.1:9/v1");
    expect(missing).toMatchObject({ status: "failed", remedy: expect.stringContaining("Check the network") });
  });

  it("warns if there is none", async () => {
    expect(await checkProviders({})).toMatchObject([{ name: "models", status: "warning" }]);
  });
});

describe("the doctor's check of the host", () => {
  it("refuses an old Node", () => {
    expect([checkNode("20.1.0").status, checkNode("24.0.0").status]).toEqual(["failed", "ok"]);
    expect(checkNode("23.11.1")).toEqual({
      name: "node",
      status: "failed",
      detail: "Node 23.11.1 is too old",
      remedy: "Install Node 24 or newer: https://nodejs.org",
    });
  });

  it("refuses native Windows", async () => {
    expect(await checkPrograms({ platform: "win32", searchPath: "" })).toMatchObject([
      { name: "tools", status: "failed", remedy: "Run this inside WSL2." },
    ]);
  });

  it("accepts a free port and that of the running service, and suggests the next one for a port in use", async () => {
    const url = new URL(await startProvider(200));
    const port = Number(url.port);
    expect(await checkPort(port, undefined)).toMatchObject({
      status: "warning",
      detail: `${port} is used by another program`,
      remedy: `The next start uses ${await firstFreePort(port + 1)}, or choose one with --port.`,
    });
    expect(await checkPort(port, undefined, true), "an explicit port is obeyed or the start fails").toMatchObject({
      status: "failed",
      remedy: expect.stringMatching(/^End that program, or start with a free port, such as --port \d+\.$/),
    });
    expect(await checkPort(port, "http://own.test")).toMatchObject({
      status: "ok",
      detail: "this service runs at http://own.test",
    });
    for (const stop of stops.splice(0)) stop();
    expect(await checkPort(port, undefined)).toMatchObject({ status: "ok", detail: `${port} is free` });
  });

  it("names each missing program and the line that installs it", async () => {
    const checks = await checkPrograms({ platform: "linux", searchPath: "/nowhere" });
    expect(checks).toContainEqual({
      name: "git",
      status: "failed",
      detail: "is missing",
      remedy: "Install it: sudo apt-get install git",
    });
    expect(checks.find(({ name }) => name === "bwrap")?.status).toBe("warning");
  });
});
