import { describe, expect, it } from "vitest";
import type { Fault } from "../support/faults.ts";
import { listHeads } from "../support/invariants.ts";
import { formatDifference, Stage } from "./scenario.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

const FAULTS: readonly Fault[] = ["before", "after", "unheard"];

async function play(scenario: Scenario, plan?: Stage["faults"]["plan"]): Promise<Stage> {
  const stage = await Stage.set();
  stage.faults.plan = plan;
  await scenario.run(stage);
  return stage;
}

describe.each(scenarios)("$name", (scenario) => {
  it("makes the expected AWS calls", async () => {
    const { faults } = await play(scenario);
    await expect(`${faults.calls.join("\n")}\n`).toMatchFileSnapshot(
      `calls/${scenario.name.replace(/[^a-z]+/gi, "-")}.txt`,
    );
  });

  it("ends as expected without failures", async () => {
    const { runs } = scenario;
    const heads = listHeads((await play(scenario)).plane);
    expect(heads.map(({ state }) => state)).toEqual(Array.from({ length: runs?.count ?? 0 }, () => runs?.state));
    if (runs?.messages !== undefined) expect(heads[0]?.messages).toBe(runs.messages);
  });

  it.each(FAULTS)("ends in the same state wherever a function dies: %s the call", async (fault) => {
    const whole = await play(scenario);
    const expected = whole.remains(scenario.alike);
    const different: string[] = [];
    for (const [at, call] of whole.faults.calls.entries()) {
      const remains = await play(scenario, { at, fault }).then(
        (stage) => stage.remains(scenario.alike),
        (error: unknown) => [String(error)],
      );
      if (JSON.stringify(remains) !== JSON.stringify(expected)) {
        different.push(`${at} ${call}\n${formatDifference(expected, remains)}`);
      }
    }
    expect(different.join("\n")).toBe("");
  });
});
