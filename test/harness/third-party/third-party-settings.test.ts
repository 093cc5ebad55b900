import { describe, expect, it } from "vitest";
import type { TurnInput } from "#harness/third-party/agent.ts";
import { claude } from "#harness/third-party/claude.ts";
import { codex } from "#harness/third-party/codex.ts";
import { gemini } from "#harness/third-party/gemini.ts";

const FEWEST: TurnInput = {
  session: undefined,
  model: "a-model",
  reasoningLevel: undefined,
  systemPrompt: undefined,
  mode: "normal",
  mcpServers: [],
  workingDirectory: "/workspace",
  files: "/turn",
};

const MOST: TurnInput = {
  ...FEWEST,
  session: "01234567-89ab-4cde-8f01-23456789abcd",
  reasoningLevel: "high",
  systemPrompt: "Answer 'briefly'.",
  mode: "plan",
  mcpServers: [
    [
      "tickets",
      {
        address: { command: "npx", args: ["tickets", "--all"], env: { TOKEN: "it's a secret" } },
        tools: { include: ["list", "read"], exclude: ["it's read"] },
      },
    ],
    ["docs", { address: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer b" } }, tools: {} }],
  ],
  workingDirectory: "/workspace/a shop",
};

const REQUESTS = {
  "the fewest options": FEWEST,
  "all options": MOST,
  "an unknown reasoning level": { ...FEWEST, reasoningLevel: "x" },
};

describe("the settings and scripts of third-party agents", () => {
  it("are those of third-party.txt (`npx vitest run test/harness/third-party/third-party-settings.test.ts -u` after a change)", async () => {
    const parts = [claude, codex, gemini].flatMap((agent) =>
      Object.entries(REQUESTS).flatMap(([request, asked]) => [
        `# ${agent.name} with ${request}`,
        ...Object.entries(agent.files(asked)).flatMap(([name, text]) =>
          // A program is tested by running it.
          name.endsWith(".mjs") ? [] : [`## ${name}`, text],
        ),
        "## script",
        agent.script(asked),
      ]),
    );
    await expect(`${parts.join("\n")}\n`).toMatchFileSnapshot("third-party.txt");
  });
});
