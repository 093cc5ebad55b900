import type { Page } from "playwright-core";
import type { Scenes } from "./scenes.ts";

/** A picture of the gallery. */
export interface Shot {
  readonly name: string;
  readonly path: (scenes: Scenes) => string;
  readonly isSignedOut?: boolean;
  /** Brings the page into the state of the picture. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const button = (page: Page, name: string) => page.getByRole("button", { name }).first();

export const shots: readonly Shot[] = [
  { name: "sign-in", path: () => "/sign-in", isSignedOut: true },
  { name: "invitation", path: ({ invitation }) => invitation, isSignedOut: true },
  { name: "inbox", path: () => "/inbox", prepare: (page) => page.locator(".inbox-item").first().waitFor() },
  { name: "runs", path: () => "/runs" },
  {
    name: "runs-filter",
    path: () => "/runs?view=failed&source=API",
    prepare: (page) => page.getByRole("button", { name: /^Filter/ }).click(),
  },
  { name: "runs-empty", path: () => "/runs?q=nothing-has-this-name" },
  { name: "new-run", path: () => "/runs/new", prepare: fillNewRun },
  { name: "run", path: ({ checkout }) => `/runs/${checkout}`, prepare: waitForRun },
  { name: "run-changes", path: ({ checkout }) => `/runs/${checkout}`, prepare: scrollTo(".diff-add") },
  { name: "run-output", path: ({ checkout }) => `/runs/${checkout}`, prepare: scrollTo(".terminal-more") },
  {
    name: "run-answer",
    path: ({ checkout }) => `/runs/${checkout}`,
    prepare: scrollTo(".conversation .entry:last-child"),
  },
  { name: "run-question", path: ({ migration }) => `/runs/${migration}`, prepare: waitForRun },
  { name: "run-live", path: ({ translation }) => `/runs/${translation}`, prepare: scrollTo(".terminal") },
  { name: "run-failed", path: ({ failed }) => `/runs/${failed}`, prepare: waitForRun },
  {
    name: "run-waiting",
    path: ({ waiting }) => `/runs/${waiting}`,
    prepare: (page) => page.getByRole("status").getByText("position").waitFor(),
  },
  { name: "run-third-party", path: ({ retries }) => `/runs/${retries}`, prepare: waitForRun },
  { name: "run-repository", path: ({ retries }) => `/runs/${retries}`, prepare: openRepository },
  { name: "shared-run", path: ({ session }) => `/shared/${session}`, isSignedOut: true, prepare: waitForRun },
  { name: "schedules", path: () => "/schedules" },
  { name: "schedule", path: ({ schedule }) => `/schedules/${schedule}` },
  {
    name: "environments",
    path: () => "/environments",
    prepare: (page) => page.getByText("NPM_TOKEN").waitFor(),
  },
  { name: "environment", path: ({ environment }) => `/environments/${environment}` },
  { name: "resources", path: () => "/resources", prepare: (page) => page.getByText("No connected workers").waitFor() },
  { name: "agents", path: () => "/agents" },
  { name: "agent", path: ({ agent }) => `/agents/${agent}` },
  { name: "new-key", path: ({ agent }) => `/agents/${agent}`, prepare: createKey },
  {
    name: "trust-rules",
    path: ({ agent }) => `/agents/${agent}`,
    prepare: scrollToElement("section[aria-label='Trust rules']"),
  },
  { name: "new-trust-rule", path: ({ agent }) => `/agents/${agent}`, prepare: createRule },
  { name: "usage", path: () => "/usage" },
  { name: "settings", path: () => "/settings" },
  { name: "team", path: () => "/settings/team", prepare: showTeam },
  { name: "webhooks", path: () => "/settings/webhooks", prepare: scrollToElement("section[aria-label=Webhooks]") },
  {
    name: "webhook-deliveries",
    path: () => "/settings/webhooks",
    prepare: (page) => button(page, "Deliveries of Deployments").click(),
  },
  { name: "shortcuts", path: () => "/runs", prepare: (page) => page.keyboard.press("?") },
];

async function fillNewRun(page: Page): Promise<void> {
  await page
    .getByLabel("Prompt", { exact: true })
    .fill("Update the changelog for the attached commits.\nKeep entries short.");
  await page.getByLabel(/^Title/).fill("Update the changelog");
  const file = (name: string, size: number) => ({ name, mimeType: "text/plain", buffer: Buffer.alloc(size) });
  await page
    .getByLabel("Attach files")
    .setInputFiles([file("commits.txt", 8_400), file("style-guide-for-changelogs.md", 310_000)]);
  await page.getByLabel(/^Budget/).fill("2.50");
  await page.getByLabel("Prompt", { exact: true }).blur();
}

async function waitForRun(page: Page): Promise<void> {
  await page.locator(".entry-action").first().waitFor();
  await page.locator(".markdown").first().waitFor();
}

async function openRepository(page: Page): Promise<void> {
  await waitForRun(page);
  await page.locator(".repository summary").click();
  await page.locator(".repository .diff-add").first().waitFor();
  await scrollToElement(".repository")(page);
}

async function createRule(page: Page): Promise<void> {
  await button(page, "New rule").click();
  await page.getByRole("dialog").getByLabel("Subject pattern").fill("repo:acme/shop:environment:production");
}

function scrollTo(selector: string) {
  return async (page: Page): Promise<void> => {
    await waitForRun(page);
    await scrollToElement(selector)(page);
  };
}

function scrollToElement(selector: string) {
  return async (page: Page): Promise<void> => {
    await page.locator(selector).first().waitFor({ state: "attached" });
    // What was not visible yet gets its height when it becomes visible, so the first position is not the last one.
    for (let count = 0; count < 3; count++) {
      await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: "center" })`);
      await page.waitForTimeout(150);
    }
  };
}

async function showTeam(page: Page): Promise<void> {
  await page.getByText("alan@example.com").waitFor();
  await page.evaluate("document.querySelector('section[aria-label^=Team]').scrollIntoView()");
}

async function createKey(page: Page): Promise<void> {
  await button(page, "New key").click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Nightly builds");
  await button(page, "Create the key").click();
  await page.locator(".secret").waitFor();
}
