/**
 * Runs before the first paint, while the app is still being loaded: applies the theme that was chosen, fits the frame to the page, and
 * requests what it needs. The build makes a classic script of it, because modules would wait for the whole document.
 */
import { readStored } from "./api/browser-storage.ts";
import type { EarlyResponse } from "./api/early-responses.ts";
import { teamForRequest } from "./api/team-choice.ts";

/** The scripts of each page besides those that every page needs, by its module. The build defines it. */
declare const PAGE_FILES: Readonly<Record<string, readonly string[]>>;

interface StartedPage {
  readonly path: RegExp;
  readonly module: string;
  /** Addresses below /api/v1 that the page reads first, exactly as the app requests them. */
  readonly reads: (path: string, search: string) => readonly string[];
}

const SESSION = "/session";
const readSession = () => [SESSION];
const readNothing = () => [];

const PAGES: readonly StartedPage[] = [
  {
    path: /^\/(runs)?$/,
    module: "runs/runs-page.tsx",
    reads: (_path, search) => [SESSION, ...(search === "" ? ["/agent/runs?sort_by=created_at&limit=100"] : [])],
  },
  {
    path: /^\/runs\/(?!new$)[^/]+$/,
    module: "run/run-page.tsx",
    reads: (path) => {
      const run = `/agent${path}`;
      // A page that is opened in the background reads events when it becomes visible.
      return [SESSION, run, ...(document.hidden ? [] : [`${run}/events?after=0&wait=25&live=true`])];
    },
  },
  { path: /^\/runs\/new$/, module: "new-run/new-run-page.tsx", reads: readSession },
  { path: /^\/schedules$/, module: "schedules/schedules-page.tsx", reads: () => [SESSION, "/agent/schedules"] },
  { path: /^\/agents$/, module: "agents/agents-page.tsx", reads: () => [SESSION, "/agent/identities"] },
  { path: /^\/usage$/, module: "usage/usage-page.tsx", reads: readSession },
  { path: /^\/settings$/, module: "settings/settings-page.tsx", reads: readSession },
  { path: /^\/sign-in$/, module: "sign-in/sign-in-page.tsx", reads: () => ["/session/methods"] },
  { path: /^\/shared\/[^/]+$/, module: "public-run/public-run-page.tsx", reads: readNothing },
];

function applyTheme(): void {
  const theme = readStored("localStorage", "runyard.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
}

function preload(module: string): void {
  for (const file of PAGE_FILES[module] ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `/${file}`;
    link.crossOrigin = "";
    document.head.append(link);
  }
}

function send(url: string): EarlyResponse {
  const controller = new AbortController();
  const team = teamForRequest(url);
  const response = fetch(url, {
    cache: "no-store",
    credentials: "same-origin",
    referrerPolicy: "no-referrer",
    headers: {
      accept: url.includes("/events?") ? "text/event-stream, application/json" : "application/json",
      ...(team === undefined ? {} : { "x-team-uid": team }),
    },
    signal: controller.signal,
  });
  // An error is that of the request that takes the response.
  void response.catch(() => undefined);
  return { response, abort: () => controller.abort() };
}

/**
 * Fits the frame in index.html to the page: some pages have none, and the others mark their place in the navigation. The app does the
 * same once it is loaded.
 */
function fitFrame(): void {
  const place = pathname.split("/")[1] || "runs";
  if (/^(sign-in|shared|invitations)$/.test(place)) document.documentElement.dataset["frame"] = "none";
  const mark = () => document.querySelector(`.places [href="/${place}"]`)?.classList.add("active");
  // Only once: when all is loaded, the person may be on another page.
  document.addEventListener("readystatechange", mark, { once: true });
}

const { pathname, search, origin } = location;
const page = PAGES.find(({ path }) => path.test(pathname));
// Files are requested before storage is read, because the browser may have to read it from a disk.
if (page !== undefined) preload(page.module);
applyTheme();
fitFrame();
if (page !== undefined) {
  window.earlyResponses = new Map(
    page.reads(pathname, search).map((path) => [`${origin}/api/v1${path}`, send(`${origin}/api/v1${path}`)] as const),
  );
}
