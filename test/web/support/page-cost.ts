import type { Page } from "playwright-core";
import * as v from "valibot";

/** What a page costs its viewer. */
interface PageCost {
  /** Bytes that were sent for it, with the headers of the responses, as they are compressed. */
  readonly bytes: number;
  /** The cumulative layout shift: how much of the page moves while it is loaded. */
  readonly shift: number;
  /** What moved, for the message of a test. */
  readonly moved: readonly string[];
}

const Shifts = v.object({ shift: v.number(), moved: v.array(v.string()) });
const Finished = v.object({ encodedDataLength: v.number() });

/** A script for the page that runs before its own: adds up the layout shifts that nobody caused by a key or a click. */
const NOTE_SHIFTS = `window.shifts = { shift: 0, moved: [] };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput)) {
    window.shifts.shift += entry.value;
    for (const { node } of entry.sources) window.shifts.moved.push(node?.getAttribute?.("class") || node?.nodeName || "a removed element");
  }
}).observe({ type: "layout-shift", buffered: true });`;

/** Opens pages with an empty cache, and measures each until it rests. `page` must be on the origin. */
export async function startPageCosts(page: Page): Promise<(path: string, content: string) => Promise<PageCost>> {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  session.on("Network.loadingFinished", (event) => {
    bytes += v.parse(Finished, event).encodedDataLength;
  });
  await page.addInitScript(NOTE_SHIFTS);
  return async (path, content) => {
    bytes = 0;
    await page.goto(new URL(path, page.url()).href);
    await page.locator(content).first().waitFor();
    // Some pages poll, so that they never rest for long.
    await page.waitForLoadState("networkidle", { timeout: 5000 }).catch(() => undefined);
    return { bytes, ...v.parse(Shifts, await page.evaluate("window.shifts")) };
  };
}
