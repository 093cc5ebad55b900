import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Stage } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** Random numbers that determine how often, how late and in what order messages arrive. */
const draws = fc.infiniteStream(fc.nat());

describe.each(scenarios)("$name", (scenario) => {
  it("ends in the same state if messages arrive up to five times, late and out of order", async () => {
    const whole = await Stage.set();
    await scenario.run(whole);
    const expected = whole.remains(scenario.alike);
    await fc.assert(
      fc.asyncProperty(draws, async (stream) => {
        const draw = (below: number) => (stream.next().value ?? 0) % below;
        const stage = await Stage.set();
        stage.queues = {
          copies: () => 1 + draw(5),
          delayMs: () => (draw(3) === 0 ? draw(120_000) : 0),
          next: (count) => (count === 0 ? 0 : draw(count)),
        };
        await scenario.run(stage);
        expect(stage.remains(scenario.alike)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});
