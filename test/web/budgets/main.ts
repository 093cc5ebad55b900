/** `npm run bench:web`: measures what docs/web.md states about the speed of the web app, on a service of its own. */
import type { Browser, Page } from "playwright-core";
import { onInterrupt } from "../../../bench/interruption.ts";
import { webScriptBytes } from "../../../bench/web-script.ts";
import { ensureWebApp } from "../../../host/http/web-app.ts";
import { client, commands } from "../../support/api-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import { openBrowser, visit } from "../support/browser.ts";
import { serveLongList, serveLongRun } from "./long-pages.ts";
import { readLargestPaint, type Scrolling, scrollThrough, startProcessorClock } from "./page-timing.ts";

const ROUNDS = 5;
const THROTTLE = 4;
const RUNBOOK = { config: { model_id: "local/runbook" } };

await ensureWebApp();
const browser = await openBrowser({ handlesSignals: false });
onInterrupt(() => browser.close());
try {
  await using service = await startService({ environment: { RUNYARD_SANDBOX: "none" } });
  onInterrupt(() => service[Symbol.asyncDispose]());
  const { create, ended } = client(service);
  const run = await create(`Print **lines**.\n\n${commands("seq 200", "echo done")}`, {
    title: "Print lines",
    ...RUNBOOK,
  });
  for (let count = 0; count < 40; count++)
    await create(commands(`echo ${count}`), { title: `Run ${count}`, ...RUNBOOK });
  await ended(run);

  report("script of the largest first page, gzip", `${Math.round((await webScriptBytes()) / 1000)} kB`, "≤ 150 kB");
  for (const [name, path] of [
    ["list of runs", "/runs"],
    ["page of a run", `/runs/${run}`],
    ["sign-in", "/sign-in"],
  ] as const) {
    const { paint, load } = await measurePaint(browser, service, path);
    report(`processor time of the main thread until the ${name} is shown`, `${load} ms`, `≤ ${1000 / THROTTLE} ms`);
    report(`largest contentful paint of the ${name}, CPU throttled ${THROTTLE} times`, `${paint} ms`, "≤ 1000 ms");
  }
  const scrolled = await measureScrolling(browser, service, async (page) => {
    await serveLongRun(page, run);
    await page.goto(new URL(`/runs/${run}`, page.url()).href);
    await page.locator(".terminal").first().waitFor();
  });
  reportScrolling("run of 5,000 messages and 10 MB of output", scrolled);
  const listed = await measureScrolling(browser, service, async (page) => {
    await serveLongList(page);
    await page.goto(new URL("/runs", page.url()).href);
    await page.locator(".run-row").first().waitFor();
  });
  reportScrolling("list of 10,000 runs", listed);
} finally {
  await browser.close();
}

/** The medians of several visits with an empty cache. */
async function measurePaint(browser: Browser, service: TestService, path: string) {
  const paints: number[] = [];
  const loads: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const rate of [1, THROTTLE]) {
      const { page } = await open(browser, service, path === "/sign-in");
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate });
      const readClock = await startProcessorClock(page);
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const paint = await readLargestPaint(page);
      if (rate === 1) loads.push(await readClock());
      else paints.push(paint);
      await page.context().close();
    }
  }
  const median = (times: readonly number[]) => Math.round(times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0);
  return { paint: median(paints), load: median(loads) };
}

async function measureScrolling(browser: Browser, service: TestService, prepare: (page: Page) => Promise<void>) {
  const { page } = await open(browser, service);
  await prepare(page);
  const readClock = await startProcessorClock(page);
  const scrolling = await scrollThrough(page);
  const perFrame = (await readClock()) / scrolling.frames;
  await page.context().close();
  return { ...scrolling, perFrame };
}

/** The icon is a page of the origin that loads nothing of the app. */
function open(browser: Browser, service: TestService, isSignedOut = false) {
  return visit(browser, {
    origin: new URL(service.baseUrl).origin,
    ...(isSignedOut ? {} : { key: service.apiKey }),
    path: "/icon.svg",
  });
}

function report(name: string, value: string, budget: string): void {
  process.stdout.write(`${name}: ${value} (${budget})\n`);
}

function reportScrolling(name: string, scrolled: Scrolling & { readonly perFrame: number }): void {
  const { framesPerSecond, slowestMs, p95Ms, pixels, perFrame } = scrolled;
  const times = `${Math.round(p95Ms)} ms for 95 of 100 frames, ${Math.round(slowestMs)} ms for the slowest`;
  const what = `scrolling ${Math.round(pixels).toLocaleString("en")} pixels of a ${name}`;
  report(what, `${Math.round(framesPerSecond)} frames/s, ${times}`, "≥ 50 frames/s");
  report(`processor time of the main thread per frame of it`, `${perFrame.toFixed(1)} ms`, "≤ 20 ms");
}
