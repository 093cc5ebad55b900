import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PLAN_ONLY, toMcpServers } from "#harness/third-party/agent.ts";
import { AGENTS, describeMissingAgent, findAgentFolder, findThirdPartyAgent } from "#harness/third-party/agents.ts";
import { claude } from "#harness/third-party/claude.ts";
import { codex } from "#harness/third-party/codex.ts";
import { gemini } from "#harness/third-party/gemini.ts";
import { AcpAgentName, HarnessName } from "#shared/wire/config.ts";

afterEach(() => vi.unstubAllEnvs());

describe("findThirdPartyAgent", () => {
  it("finds the agent of a type, and none for the default harness", () => {
    const types = ["claude", "codex", "gemini", "default", "oz"] as const;
    const found = [...types.map((type) => findThirdPartyAgent({ type })), findThirdPartyAgent(undefined)];
    expect(found).toEqual([claude, codex, gemini, undefined, undefined, undefined]);
  });

  it("finds a row for each harness and agent of the API, whatever its protocol, and there are no other rows", () => {
    const own = ["default", "oz"];
    const types = HarnessName.options.filter((type) => !own.includes(type)).map((type) => ({ type }));
    const agents = AcpAgentName.options.map((agent) => ({ type: "acp", agent }) as const);
    expect([...types, ...agents].map(findThirdPartyAgent)).toEqual(AGENTS);
    expect(new Set(AGENTS.map(({ protocol }) => protocol))).toEqual(new Set(["command line", "acp"]));
  });

  it("returns the command of an agent that has no row", () => {
    expect(findThirdPartyAgent({ type: "acp", command: "goose acp" })).toBe("goose acp");
  });
});

describe("findAgentFolder", () => {
  it("finds an agent in the directory that RUNYARD_AGENTS names, and nowhere else", () => {
    const folder = mkdtempSync(join(tmpdir(), "agents-"));
    try {
      const program = join(folder, "node_modules", codex.program);
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(program, "");
      vi.stubEnv("RUNYARD_AGENTS", folder);
      expect([codex, claude].map(findAgentFolder)).toEqual([folder, undefined]);
      vi.stubEnv("RUNYARD_AGENTS", undefined);
      expect(findAgentFolder({ ...codex, program: "@openai/no-such-program.js" })).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("describeMissingAgent", () => {
  it("names the agent, its package and what to do", () => {
    expect(describeMissingAgent(gemini)).toMatch(
      /^The agent gemini is not installed in this run's sandbox: it needs the npm package @google\/gemini-cli\. .*npm ci --prefix image.*RUNYARD_AGENTS/,
    );
  });
});

const convert = (servers: Parameters<typeof toMcpServers>[0], include = true) =>
  toMcpServers(servers, { TOKEN: "t0ken" }, { include, exclude: true });

describe("toMcpServers", () => {
  it("gives names that every agent accepts and default members, without servers that only the service knows", () => {
    expect(convert(undefined)).toEqual({ servers: [], unavailable: [] });
    const servers = {
      "my tools/é_1": { command: "npx" },
      full: { command: "npx", args: ["a"], env: { A: "b" }, url: "https://unused.example" },
      web: { url: "https://mcp.example" },
      signed: { url: "https://mcp.example", headers: { Authorization: "b" } },
      known: {},
    };
    expect(convert(servers).servers).toEqual([
      ["my-tools--_1", { address: { command: "npx", args: [], env: {} }, tools: {} }],
      ["full", { address: { command: "npx", args: ["a"], env: { A: "b" } }, tools: {} }],
      ["web", { address: { url: "https://mcp.example", headers: {} }, tools: {} }],
      ["signed", { address: { url: "https://mcp.example", headers: { Authorization: "b" } }, tools: {} }],
    ]);
  });

  it("leaves out disabled servers, fills in secrets, and says which servers the agent cannot use", () => {
    const tools = { include: ["a"], exclude: ["b"] };
    const servers = {
      off: { command: "npx", disabled: true },
      signed: { url: "https://mcp.example", headers: { Authorization: "Bearer ${TOKEN}" }, tools: { exclude: ["b"] } },
      gone: { url: "https://mcp.example/${NONE}" },
      limited: { command: "npx", tools },
    };
    const signed = [
      "signed",
      {
        address: { url: "https://mcp.example", headers: { Authorization: "Bearer t0ken" } },
        tools: { exclude: ["b"] },
      },
    ];
    const gone = "gone: url names NONE, which is neither a secret nor a variable of this run";
    expect(convert(servers)).toEqual({
      servers: [signed, ["limited", { address: { command: "npx", args: [], env: {} }, tools }]],
      unavailable: [gone],
    });
    expect(convert(servers, false)).toEqual({
      servers: [signed],
      unavailable: [gone, expect.stringMatching(/^limited: .*use tools\.exclude$/)],
    });
    const neither = toMcpServers(servers, { TOKEN: "t0ken" }, { include: false, exclude: false });
    expect(neither).toEqual({
      servers: [],
      unavailable: [
        expect.stringMatching(/^signed: .*kept from the tools of tools\.exclude/),
        gone,
        expect.stringMatching(/^limited: .*tools of tools\.include$/),
      ],
    });
  });
});

describe("the names of MCP servers", () => {
  it("stay different if they differ only in characters that agents do not accept", () => {
    const servers = Object.fromEntries(["a.b", "a b", "a-b-2", "a-b"].map((name) => [name, { command: name }]));
    const names = convert(servers).servers.map(([name, { address }]) => [
      name,
      "command" in address && address.command,
    ]);
    expect(names).toEqual([
      ["a-b", "a.b"],
      ["a-b-2", "a b"],
      ["a-b-2-2", "a-b-2"],
      ["a-b-3", "a-b"],
    ]);
  });
});

describe("plan mode", () => {
  it("instructs agents without their own plan mode to change nothing", () => {
    expect(PLAN_ONLY).toContain("Do not change files");
  });
});
