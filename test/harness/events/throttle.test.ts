import { describe, expect, it } from "vitest";
import { throttle } from "#harness/support/throttle.ts";

describe("throttle", () => {
  it("works on a call when it is due, counted from the end of the last work", async () => {
    let now = 0;
    const done: number[] = [];
    const comeBy = throttle(
      async () => {
        done.push(now);
        now += 30;
      },
      100,
      () => now,
    );
    for (const time of [50, 99, 100, 150, 229, 230, 500]) {
      now = time;
      await comeBy();
    }
    expect(done).toEqual([100, 230, 500]);
  });

  it("retries at once if the work failed", async () => {
    const comeBy = throttle(() => Promise.reject(new Error("not now")), 0);
    await expect(comeBy()).rejects.toThrow("not now");
    await expect(comeBy()).rejects.toThrow("not now");
  });
});
