import { describe, expect, it } from "vitest";
import { planText } from "../../web/run/plan-text.ts";

describe("planText", () => {
  it("shows the to-do list of an agent with what is done and in progress", () => {
    const items = [
      { task: "Look around", state: "done" },
      { task: "Write\nthe test", state: "in_progress" },
      { task: "Repair", state: "pending" },
    ];
    expect(planText({ items })).toBe("- [x] Look around\n- [ ] Write the test …\n- [ ] Repair");
  });

  it("shows the lists of third-party agents", () => {
    const todos = [
      { content: "Look around", status: "completed" },
      { description: "Repair", status: "pending" },
    ];
    expect(planText({ todos })).toBe("- [x] Look around\n- [ ] Repair");
    expect(planText({ items: [{ text: "Look around", completed: true }] })).toBe("- [x] Look around");
  });

  it("shows a plan that is a text", () => {
    expect([planText({ content: "# Plan" }), planText({ plan: "Do it." }), planText(undefined)]).toEqual([
      "# Plan",
      "Do it.",
      "",
    ]);
  });
});
