import type { Page } from "playwright-core";
import * as v from "valibot";

/** Milliseconds from the start of the navigation to the largest contentful paint so far. */
export async function readLargestPaint(page: Page): Promise<number> {
  const time = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({
      type: "largest-contentful-paint",
      buffered: true,
    });
  })`);
  return v.parse(v.number(), time);
}

/** Measures the processor time of the page's main thread, which other programs of the machine do not change much. */
export async function startProcessorClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  };
  const start = await read();
  return async () => (await read()) - start;
}

const Scrolling = v.object({
  framesPerSecond: v.number(),
  p95Ms: v.number(),
  slowestMs: v.number(),
  pixels: v.number(),
  frames: v.number(),
});
export type Scrolling = v.InferOutput<typeof Scrolling>;

/** Scrolls at 3,000 pixels per second, as somebody who skims, and measures the time between frames. */
export async function scrollThrough(page: Page, seconds = 6): Promise<Scrolling> {
  const measured = await page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    const first = scrollY;
    const frames = [];
    let last = start;
    const step = (now) => {
      frames.push(now - last);
      scrollBy(0, Math.min(200, (now - last) * 3));
      last = now;
      if (now - start < ${seconds * 1000}) return requestAnimationFrame(step);
      const sorted = frames.slice(1).toSorted((a, b) => a - b);
      resolve({
        framesPerSecond: (1000 * sorted.length) / sorted.reduce((sum, frame) => sum + frame, 0),
        p95Ms: sorted[Math.floor(sorted.length * 0.95)],
        slowestMs: sorted.at(-1),
        pixels: scrollY - first,
        frames: sorted.length,
      });
    };
    requestAnimationFrame(step);
  })`);
  return v.parse(Scrolling, measured);
}
