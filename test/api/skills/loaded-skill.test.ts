import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";

describe("the skill that an execution has loaded", () => {
  const path = "o/r:.agents/skills/review/SKILL.md";
  const reportSkill = (harness: Harness, skill: Record<string, unknown>) =>
    harness.support("resolve-prompt", { skill });

  // @contract runs.item.skill-words: agent_skill has the skill's name once it is found.
  // @contract runs.list.skill-resolved: However a skill was named, its file's path finds the run once the skill is found.
  it("is returned with its name, and every list finds the run by the skill's path and spec", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane, { skill: "o/r:review" });
    await workingRun(plane, { skill: "o/r:other" });
    expect((await reportSkill(harness, { name: "Review", content: "Look.", path })).status).toBe(200);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      agent_skill: { name: "Review", full_path: path },
      agent_config: { skill_spec: "o/r:review" },
    });
    for (const spec of [path, "o/r:review"]) {
      for (const more of ["", "&sort_by=created_at", "&sort_by=title", "&sort_by=agent", `&creator=${plane.user}`]) {
        const { body } = await user.get(`/agent/runs?skill=${encodeURIComponent(spec)}${more}`);
        expect(
          body.runs.map(({ run_id }: { run_id: string }) => run_id),
          `${spec}${more}`,
        ).toEqual([harness.run_id]);
      }
      const created = await user.get(
        `/agent/runs?skill=${encodeURIComponent(spec)}&creator=${plane.user}&sort_by=created_at`,
      );
      expect(created.body.runs).toHaveLength(1);
    }
  });

  it("is recorded once, only for a run that starts from a skill, and only in valid form: else 400", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { skill: "o/r:review" });
    for (const wrong of ["SKILL.md", "o/r:", "o r:a", `o/r:${"a".repeat(512)}`]) {
      expect(await reportSkill(harness, { name: "a", content: "b", path: wrong })).toMatchObject({
        status: 400,
        body: { errors: [{ path: "skill.path" }] },
      });
    }
    await reportSkill(harness, { name: "Review", content: "Look.", path });
    const before = structuredClone(plane.table.all());
    await reportSkill(harness, { name: "Another", content: "Look.", path: "o/r:b" });
    expect(plane.table.all()).toEqual(before);
    const plain = await workingRun(plane);
    await reportSkill(plain, { name: "Review", content: "Look.", path });
    expect((await createClient(plane).get(`/agent/runs/${plain.run_id}`)).body).not.toHaveProperty("agent_skill");
  });
});
