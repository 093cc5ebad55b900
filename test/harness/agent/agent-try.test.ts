import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../../scripts/run-command.ts";
import { runCommand } from "../../../server/host/commands.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { command, use } from "../support/agent-run.ts";

async function agentTry(args: readonly string[], environment: Record<string, string> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  return await runCommand(process.execPath, [join(root, "lab/agent-try.ts"), ...args], { env });
}

const repair = {
  path: "median.mjs",
  action: "replace",
  old_text: ".sort()",
  new_text: ".sort((a, b) => a - b)",
};

describe("npm run lab -- agent-try", () => {
  it.each([
    ["anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY", "claude-sonnet-5-5", "/v1/messages"],
    ["openai/gpt-5.4", "OPENAI_API_KEY", "gpt-5.4", "/v1/responses"],
  ])("lets %s repair a repository, and checks the repair itself", async (model, variable, name, path) => {
    await using standIn = await ModelStandIn.start();
    standIn.turns.push(
      { tools: [use("edit_files", { edits: [repair] })] },
      command(`node --test && git diff > "$RUNYARD_OUTPUT/repair.patch"`),
      { text: "It sorted numbers as texts." },
    );
    const { code, output } = await agentTry(["--model", model, "--url", standIn.anthropicUrl], {
      [variable]: "the-real-key",
    });
    expect(output).toContain("Its patch repairs the test.");
    expect(output).toContain("It sorted numbers as texts.");
    expect(code).toBe(0);
    expect(standIn.seen.map((call) => [call.path, call.body.model])).toEqual(standIn.seen.map(() => [path, name]));
    expect(JSON.stringify(standIn.seen.map(({ headers }) => headers))).toContain("the-real-key");
    expect(JSON.stringify(standIn.seen)).not.toContain("ryr_");
  });

  it("does not trust an agent that only claims success", async () => {
    await using standIn = await ModelStandIn.start();
    standIn.turns.push({ text: "Repaired." });
    const args = ["--model", "compatible/some", "--url", standIn.anthropicUrl];
    const { code, output } = await agentTry(args);
    expect([code, output]).toEqual([1, expect.stringContaining("The test still fails")]);
  });

  it("names the missing key, and how it is used", async () => {
    const missing = await agentTry([]);
    expect([missing.code, missing.output]).toEqual([2, expect.stringContaining("ANTHROPIC_API_KEY is not set")]);
    const help = await agentTry(["--help"]);
    expect([help.code, help.output]).toEqual([0, expect.stringContaining("--model")]);
    const unknown = await agentTry(["--model", "gpt-5.4"]);
    expect([unknown.code, unknown.output]).toEqual([2, expect.stringContaining("must begin with anthropic/")]);
  });
});
