import { describe, expect, it } from "vitest";
import { sandboxUsdPerHour } from "#infra/sandbox-price.ts";
import { PRICE_TABLE } from "../../operate/cost/price-table.ts";

describe("sandboxUsdPerHour", () => {
  it("is the price of the sandbox's memory, and of its disk above 512 MB", () => {
    const { gbSeconds, diskGbSeconds } = PRICE_TABLE;
    const usual = 3600 * (2 * gbSeconds.dollars + 3.5 * diskGbSeconds.dollars);
    expect(sandboxUsdPerHour({})).toBeCloseTo(usual, 9);
    // Ten minutes, as docs/cost.md says.
    expect((usual / 6).toFixed(4)).toBe("0.0161");
    expect(sandboxUsdPerHour({ sandboxMemoryMb: 1024, sandboxDiskMb: 512 })).toBeCloseTo(3600 * gbSeconds.dollars, 9);
  });
});
