import { describe, expect, it } from "vitest";
import { truncate } from "#harness/support/truncate.ts";
import { agentRun, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

const skill = (name: string, description: string, body: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

describe("the agent's briefing", () => {
  it("lists the repositories' skills, which the agent loads on demand; the run's own is included whole", async () => {
    using repository = new Repository(
      "things",
      {
        ".agents/skills/deploy/SKILL.md": skill("deploy", "How things\n  are deployed.", "Press the button."),
        ".claude/skills/review/SKILL.md": skill("review", "How to review.", "Read it twice."),
        ".github/skills/broken/SKILL.md": "---\nname: [\n---\n",
      },
      { ".agents/skills/hostile/SKILL.md": "/etc/passwd", ".cursor/skills": "/etc" },
    );
    const id = `${repository.path.split("/").at(-2)}/things:.agents/skills/deploy/SKILL.md`;
    await using it = await agentRun({
      prompt: "Deploy it.",
      systemPrompt: "You love brevity.",
      turns: [
        { tools: [use("load_skill", { id })] },
        { tools: [use("load_skill", { id: "things:/etc/passwd" })] },
        { text: "Deployed." },
      ],
      context: { agent_config: { repositories: [{ url: repository.url }], skill_spec: "things:review" } },
    });
    it.plane.attach("notes.txt", "attached");
    await it.run();
    expect(it.plane.outcome?.success).toBe(true);
    const system: string = it.standIn.seen[0]?.body.system[0].text;
    expect(system).toContain(`- deploy (id: ${id}): How things are deployed.`);
    expect(system).toContain("- review (id: ");
    expect(system).not.toContain("root:");
    const [unusable = ""] = /These skills cannot be used.*?\n\n/s.exec(system) ?? [];
    expect(unusable).toMatch(/hostile\/SKILL\.md: .* has no such skill\n.*broken\/SKILL\.md: has no instructions\n/);
    expect(system).toContain('/workspace/attachments: "notes.txt"');
    expect(system).toContain("commands start in /workspace/things");
    expect(system.endsWith("You love brevity.")).toBe(true);
    expect(JSON.stringify(it.asked(0))).toContain("Read it twice.");
    expect(it.plane.results).toMatchObject([
      { id, content: "Press the button.\n" },
      { error: expect.stringContaining("there is no such skill") },
    ]);
  });

  it("omits load_skill without skills, and explains the mode", async () => {
    await using it = await agentRun({
      prompt: "Lead them.",
      turns: [{ text: "Led." }],
      context: { mode: "orchestrate", agent_config: { computer_use_enabled: true } },
    });
    await it.run();
    const { system, tools } = it.standIn.seen[0]?.body ?? {};
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["run_command", "edit_files", "start_agent"]),
    );
    expect(JSON.stringify(tools)).not.toContain("load_skill");
    expect(system[0].text).toContain("You coordinate other agents.");
    expect(system[0].text).toContain("you have no screen");
    const started = it.plane.events.find(({ event_name }) => event_name === "agent_started");
    expect(started?.payload?.detail).toContain("computer use is not supported");
  });

  it("describes every tool and its input in the APIs' format", async () => {
    await using it = await agentRun({ prompt: "Hello.", turns: [{ text: "Hello." }] });
    await it.run();
    const tools: { name: string; description: string; input_schema: Record<string, unknown> }[] =
      it.standIn.seen[0]?.body.tools;
    expect(tools.length).toBeGreaterThan(8);
    for (const { name, description, input_schema } of tools) {
      expect(name).toMatch(/^[a-z_]{1,64}$/);
      expect(description.length, name).toBeGreaterThan(40);
      expect(input_schema, name).toMatchObject({ type: "object", properties: expect.any(Object) });
    }
  });
});

describe("truncate", () => {
  it("keeps what fits, and truncates texts, the longest alike", () => {
    expect(truncate({ a: "short", b: [1, null, true] }, 100)).toEqual({ a: "short", b: [1, null, true] });
    const cut = truncate({ long: "x".repeat(1_000), short: "stays", list: ["y".repeat(1_000)] }, 500);
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(500);
    expect(cut).toMatchObject({ long: expect.stringMatching(/^x+\n\[\.\.\. truncated \.\.\.\]$/), short: "stays" });
  });

  it("joins texts with too many parts, and keeps everything well formed", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    expect(truncate({ many }, 300)).toMatch(/^\{"many":\[0,1,2[\s\S]*truncated/);
    expect(truncate({ "a\0": "b\ud800" }, 100)).toEqual({ "a\ufffd": "b\ufffd" });
  });
});
