import type { Browser, Page } from "playwright-core";
import * as v from "valibot";
import type { ServiceAddress } from "../../support/api-client.ts";
import { openOrigin, startProcessorClock } from "./page-timing.ts";

interface MeasuredPage {
  readonly path: string;
  /** A selector of the main content of the page. */
  readonly content: string;
}

interface Appearance {
  /** Milliseconds from the start of the navigation to the largest contentful paint. */
  readonly largest: number;
  /** The element of that paint. */
  readonly element: string;
  /** Milliseconds to the frame that shows the content. */
  readonly content: number;
  /** Milliseconds of processor time of the main thread until the page rests, without throttling. */
  readonly load: number;
}

/** The time from the load event until the page rests, with paints that come later, such as those of a font. */
const REST_MS = 3000;

/** The medians of several visits with an empty cache, by a visitor who is signed in unless it is the sign-in. */
export async function measureAppearance(
  browser: Browser,
  service: ServiceAddress,
  { path, content }: MeasuredPage,
  rounds: number,
  throttle: number,
): Promise<Appearance> {
  const visits: Omit<Appearance, "load">[] = [];
  const loads: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const rate of [1, throttle]) {
      const { page } = await openOrigin(browser, service, path === "/sign-in");
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate });
      const readClock = rate === 1 ? await startProcessorClock(page) : undefined;
      await page.addInitScript(noteAppearance(content));
      await page.goto(new URL(path, page.url()).href);
      // A test that waits for an element executes scripts in the page, which would count, so it waits when the page rests.
      await page.waitForTimeout(REST_MS);
      const shown = page.locator(content).first();
      while (!(await shown.isVisible())) {
        // A busy machine took longer than that; then the page has yet to come to rest.
        await shown.waitFor();
        await page.waitForTimeout(REST_MS);
      }
      if (readClock === undefined) visits.push(await readPaints(page));
      else loads.push(await readClock());
      await page.context().close();
    }
  }
  const middle = visits.toSorted((a, b) => a.largest - b.largest)[Math.floor(rounds / 2)];
  return {
    largest: median(visits.map(({ largest }) => largest)),
    element: middle?.element ?? "",
    content: median(visits.map((one) => one.content)),
    load: median(loads),
  };
}

const median = (times: readonly number[]): number =>
  Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);

/** A script for the page that runs before its own: marks the frame that shows the content. */
const noteAppearance = (selector: string): string => `{
  const look = () => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => performance.mark("content"));
  };
  requestAnimationFrame(look);
}`;

const Paints = v.object({ largest: v.number(), element: v.string(), content: v.number() });

async function readPaints(page: Page): Promise<v.InferOutput<typeof Paints>> {
  const paints = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const { startTime, element } = list.getEntries().at(-1);
      const name = element === null ? "an element that was replaced" : element.tagName.toLowerCase();
      resolve({
        largest: startTime,
        element: element?.className ? name + "." + element.className : name,
        content: performance.getEntriesByName("content")[0].startTime,
      });
    }).observe({ type: "largest-contentful-paint", buffered: true });
  })`);
  return v.parse(Paints, paints);
}
