import { describe, expect, it } from "vitest";
import { type Brief, writeBriefing } from "#harness/agent/briefing.ts";

const BRIEF: Brief = {
  modelId: "anthropic/claude-sonnet-5-5",
  mode: "normal",
  basePrompt: "Answer in German.",
  workspace: "/workspace",
  workingDirectory: "/workspace/shop",
  repositories: [{ name: "acme/shop", path: "shop" }],
  attachments: ["log.txt"],
  skills: [{ id: "acme/shop:.agents/skills/deploy/SKILL.md", name: "deploy", description: "How to deploy." }],
  unusableSkills: [],
  instructions: [{ path: "shop/AGENTS.md", content: "Use tabs.\n" }],
  network: "There is no network.",
  computerUse: false,
};
const TOOLS = ["ask_user", "create_plan", "start_agent"].map((name) => ({ name }));

describe("the system prompt", () => {
  it.each([
    ["normal", {}],
    ["plan", { mode: "plan" }],
    ["orchestrate", { mode: "orchestrate" }],
    ["compatible", { modelId: "compatible/qwen3" }],
  ] satisfies [string, Partial<Brief>][])(
    "of a run (%s) is that of the recorded file (`-u` after a change)",
    async (name, brief) => {
      await expect(`${writeBriefing({ ...BRIEF, ...brief }, TOOLS)}\n`).toMatchFileSnapshot(`${name}.txt`);
    },
  );

  it.each([
    ["anthropic/claude-sonnet-5-5", "normal"],
    ["bedrock/global.anthropic.claude-sonnet-5-5", "normal"],
    ["openai/gpt-5.4", "normal"],
    ["compatible/llama", "compatible"],
  ])("of a run with the model %s is that of %s.txt", async (modelId, name) => {
    await expect(`${writeBriefing({ ...BRIEF, modelId }, TOOLS)}\n`).toMatchFileSnapshot(`${name}.txt`);
  });
});
