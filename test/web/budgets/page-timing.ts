import type { Browser, Page } from "playwright-core";
import type { ServiceAddress } from "../../support/api-client.ts";
import { type Visit, visit } from "../support/browser.ts";

/** Opens the icon, a page of the origin that loads nothing of the app. */
export function openOrigin(browser: Browser, service: ServiceAddress, isSignedOut = false): Promise<Visit> {
  return visit(browser, {
    origin: new URL(service.baseUrl).origin,
    ...(isSignedOut ? {} : { key: service.apiKey }),
    path: "/icon.svg",
  });
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
