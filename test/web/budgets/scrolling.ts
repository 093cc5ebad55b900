import type { Browser, Page } from "playwright-core";
import * as v from "valibot";
import type { ServiceAddress } from "../../support/api-client.ts";
import { openOrigin, startProcessorClock } from "./page-timing.ts";

export interface Scrolled extends Scrolling {
  /** Milliseconds of processor time of the main thread. */
  readonly perFrame: number;
}

/** Scrolls a page that `prepare` opens. */
export async function measureScrolling(
  browser: Browser,
  service: ServiceAddress,
  prepare: (page: Page) => Promise<void>,
): Promise<Scrolled> {
  const { page } = await openOrigin(browser, service);
  await prepare(page);
  const readClock = await startProcessorClock(page);
  const scrolling = await scrollThrough(page);
  const perFrame = (await readClock()) / scrolling.frames;
  await page.context().close();
  return { ...scrolling, perFrame };
}

const Scrolling = v.object({
  framesPerSecond: v.number(),
  p95Ms: v.number(),
  slowestMs: v.number(),
  pixels: v.number(),
  frames: v.number(),
});
type Scrolling = v.InferOutput<typeof Scrolling>;

/** Scrolls at 3,000 pixels per second, as somebody who skims, and measures the time between frames. */
async function scrollThrough(page: Page, seconds = 6): Promise<Scrolling> {
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
