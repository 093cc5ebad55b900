/**
 * `npm run lab -- screenshots [--out DIR] [--data DIR] [--full] [NAME…]`: starts a service with runs in every state and takes the
 * pictures of the web app. With --data, the service is kept in a directory, and the next call takes its pictures of the same runs.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { ensureWebApp } from "../../../server/host/http/web-app.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { startService, type TestService } from "../../support/service.ts";
import { openBrowser, visit } from "../support/browser.ts";
import { type Shot, shots } from "./pages.ts";
import { addPastDays } from "./past-days.ts";
import { createScenes, type Scenes } from "./scenes.ts";
import { playTasks } from "./scripted-agents.ts";
import { tasks } from "./tasks.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: path.resolve(import.meta.dirname, "../../../.runyard/screenshots") },
    data: { type: "string" },
    full: { type: "boolean", default: false },
    narrow: { type: "string", default: "360" },
  },
});

const VARIANTS = [
  { name: "light-wide", colorScheme: "light", width: 1280 },
  { name: "dark-wide", colorScheme: "dark", width: 1280 },
  { name: "light-phone", colorScheme: "light", width: Number(values.narrow) },
  { name: "dark-phone", colorScheme: "dark", width: Number(values.narrow) },
] as const;

await ensureWebApp();
await using model = await ModelStandIn.start();
playTasks(model, tasks);
const browser = await openBrowser();
try {
  await using service = await startService({
    ...(values.data === undefined ? {} : { directory: path.resolve(values.data) }),
    environment: {
      RUNYARD_SANDBOX: "none",
      RUNYARD_COMPATIBLE_BASE_URL: model.openaiUrl,
      RUNYARD_COMPATIBLE_MODELS: "coder-large,coder-small",
      RUNYARD_MODEL_PRICES: "compatible/coder-large=3/15,compatible/coder-small=0.25/1.25",
    },
  });
  const scenes = await loadScenes(service, browser);
  await mkdir(values.out, { recursive: true });
  const wanted = shots.filter(
    ({ name }) => positionals.length === 0 || positionals.some((start) => name.startsWith(start)),
  );
  for (const variant of VARIANTS) {
    for (const isSignedOut of [false, true]) {
      const signedIn = isSignedOut ? {} : { key: service.apiKey };
      const { page, complaints } = await open(browser, service, variant, signedIn);
      for (const shot of wanted.filter((one) => (one.isSignedOut ?? false) === isSignedOut)) {
        await take(page, scenes, shot, `${shot.name}-${variant.name}`);
      }
      for (const complaint of complaints) process.stdout.write(`${variant.name}: ${complaint}\n`);
      await page.context().close();
    }
  }
} finally {
  await browser.close();
}

async function loadScenes(service: TestService, browser: Browser): Promise<Scenes> {
  const file = path.join(service.directory, "scenes.json");
  const known = await readFile(file, "utf8").catch(() => undefined);
  if (known !== undefined) return JSON.parse(known);
  const scenes = await createScenes(service, browser);
  await writeFile(file, JSON.stringify(scenes));
  return scenes;
}

async function open(
  browser: Browser,
  service: TestService,
  { colorScheme, width }: (typeof VARIANTS)[number],
  signedIn: { key?: string },
) {
  const visitor = await visit(browser, {
    origin: new URL(service.baseUrl).origin,
    ...signedIn,
    colorScheme,
    width,
    path: "/icon.svg",
  });
  await visitor.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await addPastDays(visitor.page);
  return visitor;
}

async function take(page: Page, scenes: Scenes, { path, prepare }: Shot, name: string): Promise<void> {
  await page.goto(new URL(path(scenes), page.url()).href);
  await page.waitForLoadState("networkidle", { timeout: 2000 }).catch(() => undefined);
  await prepare?.(page);
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${values.out}/${name}.jpg`, type: "jpeg", quality: 62, fullPage: values.full });
  const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  if (Number(overflow) > 0) process.stdout.write(`${name}: ${overflow} pixels too wide\n`);
}
