import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const executable = process.env["RUNYARD_CHROMIUM"] ?? "/usr/bin/chromium";

/**
 * Features of Chromium that are off. The first two are pages of its address bar, which it would load with each window, at the expense
 * of the page under test. The others are those that Playwright turns off, because the last such option applies.
 */
const FEATURES_OFF = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/**
 * Real Chromium, as Debian ships it; it sends no network requests of its own.
 * @param handlesSignals whether SIGINT, SIGTERM and SIGHUP close it and end this process
 */
export async function openBrowser({ handlesSignals = true } = {}): Promise<Browser> {
  if (!existsSync(executable)) {
    throw new Error(`There is no Chromium at ${executable}. Run: bash scripts/install-test-tools.sh`);
  }
  return chromium.launch({
    executablePath: executable,
    handleSIGINT: handlesSignals,
    handleSIGTERM: handlesSignals,
    handleSIGHUP: handlesSignals,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${FEATURES_OFF.join(",")}`,
    ],
  });
}

export interface Visit {
  page: Page;
  /** What the browser reported: errors of scripts, and everything that the content security policy refused. */
  complaints: string[];
}

export interface VisitOptions {
  origin: string;
  path?: string;
  /** The key with which the visitor is signed in. Default: the visitor is not. */
  key?: string;
  width?: number;
  colorScheme?: "light" | "dark";
  timezoneId?: string;
  userAgent?: string;
}

/** Makes the pages that are opened next behave as in a browser that blocks storage, where even naming it throws. */
export const blockStorage = (page: Page): Promise<unknown> =>
  page.addInitScript(`for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied", "SecurityError"); } });
  }`);

/** A new visitor, who shares nothing with the ones before. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.colorScheme ?? "light",
    locale: "en-GB",
    timezoneId: options.timezoneId ?? "UTC",
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
  });
  const page = await context.newPage();
  // A loaded machine takes long to start the processes of a run.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    const isError = message.type() === "error" || message.type() === "warning";
    // The page handles error responses; the browser logs them too.
    if (isError && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog says ${dialog.message()}`);
    void dialog.dismiss();
  });
  if (options.key !== undefined) {
    // The cookie is shared by the requests and the pages of a context.
    const headers = { origin: options.origin };
    const response = await page.request.post(`${options.origin}/api/v1/session`, {
      headers,
      data: { key: options.key },
    });
    if (!response.ok()) throw new Error(`the sign-in was refused: ${response.status()} ${await response.text()}`);
  }
  await page.goto(`${options.origin}${options.path ?? "/"}`);
  return { page, complaints };
}
