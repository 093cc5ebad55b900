import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const path = "/agent/environments";
const create = async (network: unknown) => {
  const response = await user.post(path, { name: "Limited", network });
  expect(response.status).toBe(201);
  return response.body;
};

describe("the network of an environment", () => {
  it.each([
    { mode: "none" },
    { mode: "allowlist", domains: ["pypi.org", "*.example.com", "xn--bcher-kva.example", "packages", "repository"] },
  ])("is stored and shown: %j", async (network) => {
    const { uid } = await create(network);
    expect((await user.get(`${path}/${uid}`)).body.config.network).toEqual(network);
  });

  it("is kept by an update without it, and removed by the mode open", async () => {
    const { uid } = await create({ mode: "none" });
    expect((await user.put(`${path}/${uid}`, { description: "x" })).body.config.network).toEqual({ mode: "none" });
    expect((await user.put(`${path}/${uid}`, { network: null })).body.config.network).toEqual({ mode: "none" });
    expect((await user.put(`${path}/${uid}`, { network: { mode: "open" } })).body.config).not.toHaveProperty("network");
  });

  it.each([
    "",
    "localhost",
    "PyPI",
    "127.0.0.1",
    "0x7f000001",
    "2130706433",
    "1.2.3.0x4",
    "[::1]",
    "::1",
    "https://pypi.org",
    "pypi.org:443",
    "pypi.org/simple",
    "user@pypi.org",
    "pypi.org.",
    ".pypi.org",
    "*",
    "*.com",
    "a.*.com",
    "*pypi.org",
    "-a.org",
    "a_b.org",
    "a..org",
    "bücher.example",
    " pypi.org",
    "pypi.org\n",
    `${"a".repeat(64)}.org`,
  ])("returns 400 naming the domain for %j, also in an update", async (domain) => {
    const network = { mode: "allowlist", domains: ["pypi.org", domain] };
    const refused = { status: 400, body: { errors: [{ path: "network.domains[1]" }] } };
    expect(await user.post(path, { name: "Limited", network })).toMatchObject(refused);
    const { uid } = await create({ mode: "none" });
    expect(await user.put(`${path}/${uid}`, { network })).toMatchObject(refused);
  });

  it.each([
    [{}, "network.mode"],
    [{ mode: "closed" }, "network.mode"],
    [{ mode: "allowlist" }, "network.domains"],
    [{ mode: "allowlist", domains: [] }, "network.domains"],
    [{ mode: "none", domains: ["pypi.org"] }, "network.domains"],
    [{ mode: "open", domains: ["pypi.org"] }, "network.domains"],
    [{ mode: "allowlist", domains: Array.from({ length: 101 }, (_, index) => `a${index}.org`) }, "network.domains"],
  ])("returns 400 for %j", async (network, at) => {
    const refused = { status: 400, body: { errors: [{ path: at }] } };
    expect(await user.post(path, { name: "Limited", network })).toMatchObject(refused);
  });
});

describe("a run in an environment with a limited network", () => {
  const run = async (environment_id: string, rest: Record<string, unknown> = {}, config = {}) =>
    await user.post("/agent/runs", { prompt: "x", config: { environment_id, ...config }, ...rest });

  it("is created with the mode of that moment where the deployment's sandboxes keep its mode", async () => {
    plane.networkLimits.push("none");
    const { uid } = await create({ mode: "none" });
    const { body } = await run(uid);
    await user.put(`${path}/${uid}`, { network: { mode: "open" } });
    const resolved = await createHarness(plane, await plane.dispatch(body.run_id)).resolve();
    expect(resolved.body.context.network).toEqual({ mode: "none" });
  });

  it("is created for a self-hosted worker, which keeps its mode or fails the run", async () => {
    const { uid } = await create({ mode: "none" });
    expect(await run(uid, {}, { worker_host: "box" })).toMatchObject({ status: 200 });
  });

  // @contract environments.network: A run whose environment's network no sandbox keeps is refused.
  it.each([
    ["this deployment", [], {}, {}],
    ["this deployment", ["allowlist"], {}, {}],
    ["a caller that executes the run itself", ["none"], { execution_location: "LOCAL" }, {}],
  ] as const)("is refused where %s cannot keep it: %j %j %j", async (who, limits, rest, config) => {
    plane.networkLimits.push(...limits);
    const { uid } = await create({ mode: "none" });
    const detail = `config.environment_id: ${who} cannot keep the environment's network.mode none: choose another environment, or set its network.mode to open`;
    const refused = { status: 422, body: { error_code: "operation_not_supported", detail } };
    expect(await run(uid, rest, config)).toMatchObject(refused);
  });
});
