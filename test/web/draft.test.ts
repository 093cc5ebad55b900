import { describe, expect, it } from "vitest";
import { checkTexts, emptyDraft, toDraft, toRunRequest } from "../../web/new-run/draft.ts";

const item = { run_id: "r1", task_id: "r1", root_run_id: "r1", state: "SUCCEEDED" } as const;
const at = "2026-05-18T19:00:00.000Z";

describe("the draft of a run like another one", () => {
  const headers = { Authorization: "***", "X-Team": "shop" };
  const agent_config = {
    model_id: "local/runbook",
    budget_usd: 2.5,
    timeout_minutes: 90,
    max_steps: 50,
    mcp_servers: { docs: { url: "https://mcp.example/", headers }, files: { command: "serve", env: {} } },
  };
  const draft = toDraft({ ...item, title: "Ship", prompt: "Go.", created_at: at, updated_at: at, agent_config });

  it("is refused until secrets that are not shown are written again", () => {
    expect(checkTexts(draft)).toEqual({ further: "Write the value of Authorization again. Secrets are not shown." });
    expect(checkTexts({ ...draft, further: draft.further.replace("***", "Bearer *** x") })).toEqual({});
  });

  it("makes the same request", () => {
    expect(toRunRequest(draft)).toEqual({ prompt: "Go.", title: "Ship", config: agent_config });
  });
});

it.each([
  [{ budget: "$10" }, ["budget"]],
  [{ minutes: "0", steps: "1.5" }, ["minutes", "steps"]],
  [{ minutes: "10081", steps: "10001" }, ["minutes", "steps"]],
  [{ minutes: " 10080 ", steps: "10000" }, []],
  [{ further: "[]", metadata: "ticket" }, ["further", "metadata"]],
  [{ further: '{ "base_prompt": "Replace *** by stars." }', metadata: "ticket=1", budget: "1.5" }, []],
])("checkTexts of %j finds faults in %j", (changes, names) => {
  expect(Object.keys(checkTexts({ ...emptyDraft(), ...changes }))).toEqual(names);
});
