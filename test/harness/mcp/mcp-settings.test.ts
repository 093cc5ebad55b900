import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowsTool, expandServer, listEnabledServers } from "#harness/tools/remote/mcp-settings.ts";

const VALUES = { TOKEN: "t0ken", HOST: "mcp.example", LITERAL: "${TOKEN}", EMPTY: "" };
const expand = (server: Parameters<typeof expandServer>[0]) => expandServer(server, VALUES);

describe("the settings of MCP servers", () => {
  it("leave out the servers that are disabled", () => {
    expect(listEnabledServers(undefined)).toEqual([]);
    const servers = {
      off: { command: "a", disabled: true },
      on: { command: "b", disabled: false },
      plain: { url: "u" },
    };
    expect(listEnabledServers(servers).map(([name]) => name)).toEqual(["on", "plain"]);
  });

  it("name secrets and variables of the run, in each form that editors know", () => {
    expect(
      expand({
        command: "${HOST}/run",
        args: ["--token=${TOKEN}", "${env:HOST}"],
        env: { A: "${TOKEN}${HOST}", B: "plain $TOKEN", C: "${NONE:-a default}", D: "${TOKEN:-unused}", E: "${EMPTY}" },
      }),
    ).toEqual({
      command: "mcp.example/run",
      args: ["--token=t0ken", "mcp.example"],
      env: { A: "t0kenmcp.example", B: "plain $TOKEN", C: "a default", D: "t0ken", E: "" },
    });
    expect(expand({ url: "https://${HOST}/mcp", headers: { authorization: "Bearer ${TOKEN}" } })).toEqual({
      url: "https://mcp.example/mcp",
      headers: { authorization: "Bearer t0ken" },
    });
  });

  it.each([
    [{ url: "https://${NONE}/mcp" }, "url names NONE, which is neither a secret nor a variable of this run"],
    [
      { url: "https://x", headers: { authorization: "Bearer ${NO_TOKEN}" } },
      /^headers\.authorization names NO_TOKEN, /,
    ],
    [{ command: "a", env: { A: "${env:constructor}" } }, /^env\.A names constructor, /],
  ])("are refused where they name what the run does not have (%j)", (server, message) => {
    expect(() => expand(server)).toThrow(message);
  });

  it("keep what a program's command line names and the run does not have, since a shell may know it", () => {
    const server = { command: "sh", args: ["-c", "echo ${HOME} ${TOKEN}"] };
    expect(expand(server)).toEqual({ command: "sh", args: ["-c", "echo ${HOME} t0ken"] });
  });

  it("expand no value a second time, and change no text without a reference", () => {
    expect(expand({ command: "${LITERAL}" })).toEqual({ command: "${TOKEN}" });
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/\$\{/.test(text));
        expect(expand({ url: text })).toEqual({ url: text });
      }),
    );
  });

  it("limit the agent to the tools that they include, without those that they exclude", () => {
    const allowed = (tools: { include?: string[]; exclude?: string[] } | undefined) =>
      ["a", "b", "c"].filter((name) => allowsTool(tools === undefined ? {} : { tools }, name));
    expect(allowed(undefined)).toEqual(["a", "b", "c"]);
    expect(allowed({})).toEqual(["a", "b", "c"]);
    expect(allowed({ include: ["a", "b"], exclude: ["b"] })).toEqual(["a"]);
    expect(allowed({ include: [] })).toEqual([]);
    expect(allowed({ exclude: ["c"] })).toEqual(["a", "b"]);
  });
});
