import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { ensureWebApp } from "../../../server/host/http/web-app.ts";
import { client } from "../../support/api-client.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { startService, type TestService } from "../../support/service.ts";
import { openBrowser, type Visit, type VisitOptions, visit } from "./browser.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * A service with a web app of the current sources, a scripted model and a browser, for the tests of one file. `settings` returns further
 * variables of the service.
 */
export function useWebApp(settings: () => Promise<Variables> = async () => ({})) {
  let service: TestService;
  const stopped: TestService[] = [];
  let environment: Variables;
  let model: ModelStandIn;
  let browser: Browser;
  beforeAll(async () => {
    await ensureWebApp();
    model = await ModelStandIn.start();
    const variables = await settings();
    environment = {
      RUNYARD_SANDBOX: "none",
      RUNYARD_COMPATIBLE_BASE_URL: model.openaiUrl,
      RUNYARD_COMPATIBLE_MODELS: "test",
      RUNYARD_MODEL_PRICES: "compatible/test=2/10",
      ...variables,
    };
    [service, browser] = await Promise.all([startService({ environment }), openBrowser()]);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await printPages(browser);
    await Promise.all(browser.contexts().map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
    await Promise.all(stopped.map((one) => one[Symbol.asyncDispose]()));
    await model?.[Symbol.asyncDispose]();
  });
  return {
    get model(): ModelStandIn {
      return model;
    },
    get baseUrl(): string {
      return service.baseUrl;
    },
    /** Calls the API as a program does, with the first key or another one. */
    api: (apiKey = service.apiKey) => client({ baseUrl: service.baseUrl, apiKey }),
    get key(): string {
      return service.apiKey;
    },
    /** Stops the service, lets `work` use its data directory, and starts it again. */
    restart: async (work: (directory: string) => Promise<void>): Promise<void> => {
      await service.stop();
      // It removes its directory in the end.
      stopped.push(service);
      await work(service.directory);
      service = await startService({ environment, directory: service.directory });
    },
    /** Opens a page as a visitor who is signed in. */
    open: (path: string, options: Partial<VisitOptions> = {}): Promise<Visit> =>
      visit(browser, { origin: new URL(service.baseUrl).origin, key: service.apiKey, path, ...options }),
    /** Opens a page as a visitor who is not. */
    openSignedOut: (path: string, options: Partial<VisitOptions> = {}): Promise<Visit> =>
      visit(browser, { origin: new URL(service.baseUrl).origin, path, ...options }),
  };
}

/** Prints what the open pages show, which says more about a failed test than the text it waited for. */
async function printPages(browser: Browser): Promise<void> {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const text = await page.innerText("body", { timeout: 5000 }).catch(String);
    console.error(`${page.url()} shows:\n${text}`);
  }
}

/** A configuration of runs whose prompt is executed without a model. */
export const RUNBOOK = { config: { model_id: "local/runbook" } };

/** How wide the page is, which is more than the window if something overflows. */
export const pageWidth = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");
