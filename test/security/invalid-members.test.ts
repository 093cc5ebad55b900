import { describe, expect, it } from "vitest";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { makeSchedule, nightly } from "../support/schedules.ts";

const server = { command: "node" };

/** A wrong value of `mcp_servers`, and the paths below it that the response names. */
const wrong: readonly (readonly [string, unknown, readonly string[]])[] = [
  ["args that are text", { x: { ...server, args: "a" } }, [".x.args"]],
  ["an argument that is a number", { x: { ...server, args: ["a", 7] } }, [".x.args[1]"]],
  ["an argument that is too long", { x: { ...server, args: ["a".repeat(4097)] } }, [".x.args[0]"]],
  ["a command that is a list", { x: { command: ["node"] } }, [".x.command"]],
  ["env that is a list", { x: { ...server, env: ["A=b"] } }, [".x.env"]],
  ["a variable that is a number", { x: { ...server, env: { A: 1 } } }, [".x.env.A"]],
  ["headers that are text", { x: { url: "https://mcp.test/", headers: "a: b" } }, [".x.headers"]],
  ["a header that is null", { x: { url: "https://mcp.test/", headers: { A: null } } }, [".x.headers.A"]],
  ["a malformed URL", { x: { url: "mcp.test" } }, [".x.url"]],
  ["a server that is text", { x: "node" }, [".x"]],
  ["a server that is null", { x: null }, [".x"]],
  ["a server with both a command and a URL", { x: { ...server, url: "https://mcp.test/" } }, [".x"]],
  ["two wrong servers", { ok: server, x: { command: 1 }, y: { url: 2 } }, [".x.command", ".y.url"]],
  ["a list with args that are text", [{ name: "x", ...server, args: "a" }], ["[0].args"]],
  [
    "a list with a wrong variable",
    [
      { name: "w", ...server },
      { name: "x", ...server, env: { A: 1 } },
    ],
    ["[1].env.A"],
  ],
  ["a list without a name", [server], ["[0].name"]],
  ["a list with a name that is a number", [{ ...server, name: 7 }], ["[0].name"]],
  ["a list without a name and with wrong args", [{ ...server, args: 1 }], ["[0].args", "[0].name"]],
  ["a list with text", ["node"], ["[0]"]],
  ["a list with two of one name", [server, server].map((one) => ({ ...one, name: "x" })), [""]],
  ["text", "node", [""]],
  ["a number", 7, [""]],
];

/** Every request that takes MCP servers. */
async function requests(plane: TestControlPlane, mcp_servers: unknown) {
  const user = createClient(plane);
  const schedule = await makeSchedule(plane);
  const identity = (await user.post("/agent/identities", { name: "reviewer" })).body;
  const scheduled = { ...nightly, name: "Other", enabled: true, agent_config: { mcp_servers } };
  return [
    ["config.mcp_servers", await user.post("/agent/runs", { prompt: "p", config: { mcp_servers } })],
    ["agent_config.mcp_servers", await user.post("/agent/schedules", scheduled)],
    ["agent_config.mcp_servers", await user.put(`/agent/schedules/${schedule.id}`, scheduled)],
    ["mcp_servers", await user.post("/agent/identities", { name: "other", mcp_servers })],
    ["mcp_servers", await user.put(`/agent/identities/${identity.uid}`, { mcp_servers })],
  ] as const;
}

describe("an invalid member of mcp_servers", () => {
  // @contract runs.config.mcp-paths: An invalid member of mcp_servers is named by its path.
  it.each(wrong)("is named by its exact path: %s", async (_, mcp_servers, paths) => {
    const plane = await createTestControlPlane();
    for (const [member, { status, body }] of await requests(plane, mcp_servers)) {
      expect(status).toBe(400);
      expect(body.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual(
        paths.map((path) => member + path),
      );
      for (const path of paths) if (path !== "") expect(body.detail).not.toContain("must be a map");
    }
  });

  it("is not reported if the servers are valid, as a map or as a list", async () => {
    const plane = await createTestControlPlane();
    for (const valid of [{ x: server }, [{ name: "x", ...server }]]) {
      const { status, body } = await createClient(plane).post("/agent/runs", {
        prompt: "p",
        config: { mcp_servers: valid },
      });
      expect(status, JSON.stringify(body)).toBe(200);
    }
  });
});
