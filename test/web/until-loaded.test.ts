import { expect, it, vi } from "vitest";
import { untilLoaded } from "../../web/ui/until-loaded.ts";

it("untilLoaded tries again until a part is there, and never fails", async () => {
  vi.useFakeTimers();
  try {
    let tries = 0;
    const loading = untilLoaded(async () => {
      if (++tries < 3) throw new Error("the connection is lost");
      return "part";
    });
    await vi.advanceTimersByTimeAsync(5999);
    expect(tries).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect([await loading, tries]).toEqual(["part", 3]);
  } finally {
    vi.useRealTimers();
  }
});
