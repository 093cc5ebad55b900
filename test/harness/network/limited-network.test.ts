import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it, vi } from "vitest";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { runHarness } from "../support/run-harness.ts";

vi.setConfig({ testTimeout: 240_000 });

const block = (text: string, tag = "sh") => `\`\`\`${tag}\n${text}\n\`\`\`\n`;
const start = (prompt: string, context: RunGiven["context"] = {}) =>
  FakeControlPlane.start({ prompt, context: { network: { mode: "none" }, ...context } });
const outputs = ({ messages }: FakeControlPlane) =>
  messages.flatMap(({ content }) => content.flatMap((one) => (one.type === "action_result" ? [one.output] : [])));

describe("the commands of a run without a network", () => {
  it("reach no address and have no interface but their loopback", async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const address = own.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    const hosts = [address, "127.0.0.1", "10.0.2.2"];
    const tries = hosts.map((host) => `(exec 4<>/dev/tcp/${host}/${port}) 2>/dev/null && echo reached`);
    await using plane = await start(block(`${tries.join("; ")}; cat /proc/net/dev; true`));
    const { code, log } = await runHarness(plane);
    server.close();
    expect(code, log).toBe(0);
    const shown = JSON.stringify(outputs(plane));
    expect(shown).not.toContain("reached");
    expect(shown).not.toContain("tap0");
    expect(shown).toContain("lo:");
    expect(connections).toBe(0);
  });

  it("reach a server of the same execution", async () => {
    const server = `exec node -e 'require("http").createServer((_, it) => it.end("ok")).listen(8123)'`;
    const client = `node -e 'fetch("http://127.0.0.1:8123").then((it) => it.text()).then(console.log)'`;
    await using plane = await start(block(server, "sh background") + block(client));
    const { code, log } = await runHarness(plane);
    expect([code, plane.outcome?.success], log).toEqual([0, true]);
    expect(outputs(plane)).toContainEqual(expect.objectContaining({ stdout: "ok\n" }));
  });
});

describe("the commands of a run with an allowlist", () => {
  const limit = (domains: readonly string[], prompt: string, context: RunGiven["context"] = {}) =>
    start(prompt, { network: { mode: "allowlist", domains: [...domains] }, ...context });
  const blocked = ({ events }: FakeControlPlane) =>
    events.flatMap(({ event_name, payload }) => (event_name === "network_blocked" ? [payload?.detail] : []));

  // @contract environments.network-kept: Commands of a run with the network allowlist reach its domains only.
  it("are refused other domains, which the timeline names once, and reach their own servers", async () => {
    const server = `exec node -e 'require("http").createServer((_, it) => it.end("ok")).listen(8123)'`;
    const client = `node -e 'fetch("http://localhost:8123").then((it) => it.text()).then(console.log)'`;
    const refused = `node -e 'fetch("http://other.example").catch((error) => console.log(error.cause.code))'`;
    const byProxy = `exec 4<>/dev/tcp/127.0.0.1/80; printf 'CONNECT other.example:443 HTTP/1.1\\r\\n\\r\\n' >&4; head -n 1 <&4`;
    const prompt = block(server, "sh background") + [client, refused, byProxy].map((each) => block(each)).join("");
    await using plane = await limit(["allowed.example"], `${prompt}${block('echo "$HTTPS_PROXY $no_proxy"')}`);
    const { code, log } = await runHarness(plane);
    expect([code, plane.outcome?.success], log).toEqual([0, true]);
    const shown = outputs(plane)
      .map((output) => JSON.stringify(output))
      .join("\n");
    expect(shown).toContain('"ok\\n"');
    expect(shown).toContain("ENOTFOUND");
    expect(shown).toContain("HTTP/1.1 403");
    expect(shown).toContain("http://127.0.0.1:80 localhost,127.0.0.1");
    expect(blocked(plane)).toEqual(["blocked: other.example, add it to the environment's network.domains"]);
  });

  it("are not executed without a boundary", async () => {
    await using plane = await limit(["allowed.example"], block("echo unreached"));
    const { code } = await runHarness(plane, { RUNYARD_SANDBOX: "machine" });
    expect(code).not.toBe(0);
    expect(outputs(plane)).toEqual([]);
  });
});

describe("a run without a network", () => {
  it("clones no repository, and says in the timeline what blocks it", async () => {
    await using limited = await start(block("true"), {
      agent_config: { repositories: [{ url: "https://github.com/acme/shop" }] },
    });
    const { code, log } = await runHarness(limited);
    expect(code, log).toBe(0);
    const blocked =
      "blocked: github.com, the environment's network.mode is none; set it to open to let its runs call other machines";
    expect(limited.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(limited.outcome?.summary).toContain(blocked);
    const events = limited.events.filter(({ event_name }) => event_name === "network_blocked");
    expect(events.map(({ payload }) => payload)).toEqual([{ is_error: true, detail: blocked }]);
  });

  it("is not executed without a boundary", async () => {
    await using plane = await start(block("echo unreached"));
    const { code } = await runHarness(plane, { RUNYARD_SANDBOX: "machine" });
    expect(code).not.toBe(0);
    expect(outputs(plane)).toEqual([]);
    expect(JSON.stringify(plane.shutdown)).toContain("set its network.mode to open");
  });
});
