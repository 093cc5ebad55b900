import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** Refuses requests for the events of runs. */
const refuse = (page: Page, status: number) =>
  page.route("**/agent/runs/*/events*", (route) =>
    route.fulfill({ status, contentType: "application/problem+json", json: { title: "Refused", status } }),
  );

/** Makes the page behave as in a tab that another one hides. */
const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${hidden} });
    document.dispatchEvent(new Event("visibilitychange"))`);

describe("the page of a run", () => {
  it("reads the events again where the viewer tries again after a refusal, and copies the run's id", async () => {
    const run = await app.api().create(commands("echo visible"), { title: "Echo", ...RUNBOOK });
    await app.api().ended(run);
    const { page, complaints } = await app.open("/runs");
    await refuse(page, 404);
    await page.getByRole("link", { name: "Echo" }).click();
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await page.unroute("**/agent/runs/*/events*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".terminal", { hasText: "visible" }).waitFor();
    // Pages that are not loaded over https have no clipboard for scripts.
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole("button", { name: "Copy the run id" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await page.getByLabel("Continue with a follow-up").focus();
    await page.keyboard.press("Control+v");
    await expect.poll(() => page.getByLabel("Continue with a follow-up").inputValue()).toBe(run);
    expect(complaints).toEqual([]);
  });

  it("shows a failure once, with its context, and goes to the failing step and through the errors by a key", async () => {
    const prompt = commands("echo first", "echo 'error: 403 Forbidden' >&2; exit 7");
    const run = await app.api().create(prompt, { title: "Publish", ...RUNBOOK });
    await app.api().ended(run);
    const { page, complaints } = await app.open(`/runs/${run}`);
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("ended with exit code 7").waitFor();
    expect(await page.locator(".run-main").getByText("ended with exit code 7").count()).toBe(0);
    await result.getByText("local/runbook").waitFor();
    await page.keyboard.press("e");
    const failing = page.locator(".entry[data-target]", { hasText: "exit 7" });
    await failing.waitFor();
    expect(await result.getByRole("link", { name: "Go to the failing step" }).getAttribute("href")).toBe(
      new URL(page.url()).pathname + new URL(page.url()).hash,
    );
    await page.getByRole("button", { name: "Only errors (1)" }).click();
    await expect.poll(() => page.locator(".conversation .entry").count()).toBe(1);
    await page.getByRole("button", { name: "Only errors (1)" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("FIRST");
    await page.getByText(/^\d of \d steps$/).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".conversation .entry").count()).toBe(3);
    expect(await findViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("folds the thoughts of an agent, and shows its plan as a list and its edits as changes", async () => {
    const agent = path.join(import.meta.dirname, "../harness/support/acp-agent.mjs");
    const config = { model_id: "compatible/test", harness: { type: "acp", command: `node '${agent}'` } };
    const run = await app.api().create("WORK on it.", { title: "Agent", config });
    await app.api().ended(run);
    const { page, complaints } = await app.open(`/runs/${run}`);
    const thought = page.locator("details", { hasText: "I should look first." });
    await thought.locator("summary").waitFor();
    expect(await thought.locator(".markdown").isVisible()).toBe(false);
    await thought.locator("summary").click();
    await thought.locator(".markdown").waitFor();
    await page.locator(".plan li", { hasText: "Change it" }).waitFor();
    await page.locator(".diff-add", { hasText: "new" }).waitFor();
    await page.locator(".diff-remove", { hasText: "old" }).waitFor();
    expect(await page.locator("#main").innerText()).not.toMatch(/acp.session/i);
    expect(complaints).toEqual([]);
  });

  it("leads to the sign-in where the session has ended", async () => {
    const run = await app.api().create(commands("true"), { title: "Nothing", ...RUNBOOK });
    const { page } = await app.open("/runs");
    await refuse(page, 401);
    await page.getByRole("link", { name: "Nothing" }).click();
    await page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
    expect(new URL(page.url()).searchParams.get("to")).toBe(`/runs/${run}`);
  });

  it("shows the call that waits for an approval, and carries out exactly the one that is approved", async () => {
    const run = await app.api().create(commands("echo deployed", "echo removed"), {
      title: "Deploy",
      config: { ...RUNBOOK.config, approvals: [{ tool: "run_command", match: "echo" }] },
    });
    const { page, complaints } = await app.open(`/runs/${run}`);
    const card = page.getByRole("region", { name: "Approval" });
    await card.locator("code", { hasText: "echo deployed" }).waitFor();
    await expect.poll(() => page.getByLabel("Deny with a message").count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    await card.getByRole("button", { name: "Approve this call" }).click();
    await card.locator("code", { hasText: "echo removed" }).waitFor();
    await page.locator(".terminal", { hasText: "deployed" }).waitFor();
    await card.getByLabel("Reason").fill("Not today");
    await card.getByRole("button", { name: "Deny" }).click();
    await card.waitFor({ state: "detached" });
    await app.api().ended(run);
    await expect.poll(() => page.getByText("Not today").count()).toBeGreaterThan(0);
    expect(await page.locator(".terminal", { hasText: "removed" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("archives a run, shares it, and deletes it after a confirmation", async () => {
    const run = await app.api().create(commands("true"), { title: "Old news", ...RUNBOOK });
    await app.api().ended(run);
    const { page, complaints } = await app.open(`/runs/${run}`);
    const choose = async (item: string) => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await choose("Share publicly");
    await page.getByRole("button", { name: "Share the run" }).click();
    await page.getByRole("link", { name: "Open the public view" }).waitFor();
    await choose("Stop sharing");
    await page.getByRole("link", { name: "Open the public view" }).waitFor({ state: "detached" });
    await choose("Archive");
    await page.getByText("Archived", { exact: true }).waitFor();
    await page.goto(new URL("/runs?archived=only", page.url()).href);
    await page.getByRole("link", { name: "Old news" }).click();
    await choose("Return to the list");
    await choose("Delete");
    await page.getByRole("button", { name: "Delete the run" }).click();
    await page.waitForURL((url) => url.pathname === "/runs");
    await page.getByRole("link", { name: "Old news" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("starts a run again, once the secrets that are not shown are written again", async () => {
    const docs = { url: "https://mcp.example/", headers: { Authorization: "Bearer secret" } };
    const config = { ...RUNBOOK.config, mcp_servers: { docs } };
    const run = await app.api().create(commands("true"), { title: "With a server", config });
    const { page, complaints } = await app.open(`/runs/${run}`);
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByText("without its attachments and its mode").waitFor();
    const further = page.getByLabel(/^Further configuration/);
    await page.getByText("More options", { exact: true }).click();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByText("Write the value of Authorization again").waitFor();
    await page.locator("textarea[aria-invalid]:focus").waitFor();
    await further.fill((await further.inputValue()).replace("***", "Bearer secret"));
    const created = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Start the run" }).click();
    expect((await created).postDataJSON().config.mcp_servers).toEqual({ docs });
    expect(complaints).toEqual([]);
  });

  it("names artifacts whose titles are empty by their file, URL or type", async () => {
    const run = await app.api().create(commands("true"), { title: "Untitled files", ...RUNBOOK });
    const { body } = await app
      .api()
      .ended(run)
      .then(() => app.api().call("GET", `/agent/runs/${run}`));
    const file = {
      artifact_uid: "a1",
      filepath: "out/report.pdf",
      filename: "report.pdf",
      mime_type: "application/pdf",
    };
    const reference = { reference_type: "issue", url: "https://issues.example/7" };
    const artifacts = [
      { artifact_type: "FILE", data: { ...file, title: "" } },
      { artifact_type: "EXTERNAL_REFERENCE", data: { ...reference, title: " " } },
      { artifact_type: "PLAN", data: { document_uid: "d1", title: "" } },
      { artifact_type: "SCREENSHOT", data: { artifact_uid: "a2", mime_type: "image/tiff", description: "" } },
    ].map((artifact) => ({ ...artifact, created_at: body.created_at }));
    const { page } = await app.open("/runs");
    await page.route(`**/agent/runs/${run}`, (route) => route.fulfill({ json: { ...body, artifacts } }));
    await page.goto(new URL(`/runs/${run}`, page.url()).href);
    await page.locator(".artifact").first().waitFor();
    await expect
      .poll(() => page.locator(".artifact").allInnerTexts())
      .toEqual(["report.pdf", expect.stringMatching(/^https:\/\/issues.example\/7\s+issue$/), "Plan", "Screenshot"]);
  });

  it("shows that a run has ended although it was still running when the page was opened", async () => {
    const { page } = await app.open("/runs");
    const directory = await mkdtemp(path.join(tmpdir(), "runyard-run-page-"));
    const signal = path.join(directory, "signal");
    const command = `until [ -e ${signal} ]; do sleep 0.1; done; echo over`;
    const run = await app.api().create(commands(command), { title: "Short", ...RUNBOOK });
    await page.getByRole("link", { name: "Short" }).waitFor();
    let isFirst = true;
    await page.route(`**/agent/runs/${run}`, async (route) => {
      const response = await route.fetch();
      if (isFirst) {
        isFirst = false;
        await writeFile(signal, "");
        await app.api().ended(run);
        await setTimeout(1000);
      }
      await route.fulfill({ response });
    });
    await page.getByRole("link", { name: "Short" }).click();
    await page.getByRole("status").getByText("Succeeded").waitFor({ timeout: 20_000 });
    await page.unrouteAll({ behavior: "wait" });
    await rm(directory, { recursive: true });
  });

  it("shows live output once after a follow-up to a run that is under way, and after the page was hidden", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "runyard-run-page-"));
    const signal = path.join(directory, "signal");
    const wait = `until [ -e ${signal} ]; do sleep 0.1; done; rm ${signal}`;
    const command = `echo first; ${wait}; echo second; ${wait}; echo third; sleep 600`;
    const run = await app.api().create(commands(command), { title: "Wait", ...RUNBOOK });
    const { page } = await app.open(`/runs/${run}`);
    const output = page.locator(".terminal pre", { hasText: "first" });
    await output.waitFor();
    const reconnected = page.waitForResponse("**/events*");
    await page.getByLabel("Send a follow-up").fill("And then?");
    await page.getByRole("button", { name: "Send" }).click();
    await reconnected;
    await writeFile(signal, "");
    await page.locator(".terminal", { hasText: "second" }).waitFor();
    expect((await output.innerText()).trim()).toBe("first\nsecond");
    const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/events"));
    await setHidden(page, true);
    await ended;
    await writeFile(signal, "");
    // The file is removed before the output is written.
    await expect.poll(() => existsSync(signal)).toBe(false);
    const resumed = page.waitForRequest("**/events*");
    await setHidden(page, false);
    await resumed;
    await page.locator(".terminal", { hasText: "third" }).waitFor();
    expect((await output.innerText()).trim()).toBe("first\nsecond\nthird");
    await app.api().call("POST", `/agent/runs/${run}/cancel?force=true`);
    await rm(directory, { recursive: true });
  });

  it("shares one stream with the other windows that show the run, and another window goes on with it", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "runyard-windows-"));
    const [first, second] = [path.join(directory, "first"), path.join(directory, "second")];
    const until = (file: string, text: string) => `until [ -e ${file} ]; do sleep 0.1; done; echo ${text}`;
    const prompt = commands(until(first, "one"), until(second, "two"), "sleep 600");
    const run = await app.api().create(prompt, { title: "Windows", ...RUNBOOK });
    const { page, complaints } = await app.open(`/runs/${run}`);
    await page.getByText("sleep 0.1").first().waitFor();
    const other = await page.context().newPage();
    const open = new Set<Page>();
    for (const window of [page, other]) {
      window.on("request", (request) => {
        if (request.url().includes("/events") && request.headers()["accept"]?.includes("event-stream"))
          open.add(window);
      });
      window.on("requestfailed", (request) => {
        if (request.url().includes("/events")) open.delete(window);
      });
    }
    await other.goto(page.url());
    await other.getByText("sleep 0.1").first().waitFor();
    // The one that it requested before the app was loaded is not needed.
    await expect.poll(() => open.size).toBe(0);
    await writeFile(first, "");
    for (const window of [page, other]) await window.locator(".terminal", { hasText: "one" }).waitFor();
    expect(open.size).toBe(0);
    await setHidden(page, true);
    await expect.poll(() => open.has(other)).toBe(true);
    await writeFile(second, "");
    await other.locator(".terminal", { hasText: "two" }).waitFor();
    expect(await page.locator(".terminal", { hasText: "two" }).count()).toBe(0);
    await setHidden(page, false);
    await page.locator(".terminal", { hasText: "two" }).waitFor();
    await app.api().call("POST", `/agent/runs/${run}/cancel?force=true`);
    for (const window of [page, other]) await window.getByText("Cancelled").first().waitFor();
    expect(complaints).toEqual([]);
    await rm(directory, { recursive: true });
  });

  it("shows the follow-ups that the agent has not taken, and edits, removes and promotes them", async () => {
    const run = await app.api().create(commands("sleep 600"), { title: "Busy", ...RUNBOOK });
    for (const message of ["one", "two", "three"]) {
      await app.api().call("POST", `/agent/runs/${run}/followups`, { message });
    }
    const { page, complaints } = await app.open(`/runs/${run}`);
    const pending = page.getByRole("article", { name: "Pending follow-up" });
    const texts = async () => (await pending.locator(".followup-text").allInnerTexts()).join(" ");
    await expect.poll(texts).toBe("one two three");
    await pending.nth(1).getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Message of the pending follow-up").fill("two, but other");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(texts).toBe("one two, but other three");
    await pending.nth(0).getByRole("button", { name: "Remove" }).click();
    await expect.poll(texts).toBe("two, but other three");
    await app.api().call("PUT", `/agent/runs/${run}/followups/followup-3`, { message: "echo three" });
    await pending.nth(1).getByRole("button", { name: "Send now" }).click();
    await page.getByText("Interrupted by follow-up").waitFor({ timeout: 30_000 });
    await expect.poll(() => pending.count(), { timeout: 30_000 }).toBe(0);
    expect(complaints).toEqual([]);
  });
});

/** Lets a run be under way that has 400 steps, and one more with each further request. */
async function serveLongRun(page: Page, run: string): Promise<void> {
  const { body } = await app.api().call("GET", `/agent/runs/${run}`);
  await page.route(`**/agent/runs/${run}`, (route) => route.fulfill({ json: { ...body, state: "INPROGRESS" } }));
  await page.route(`**/agent/runs/${run}/events*`, async (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get("after"));
    if (after > 0) await setTimeout(300);
    const from = after === 0 ? 0 : 399 + after;
    const text = (step: number) => `Step ${step}\n\n${"- a line of a list\n".repeat(20)}`;
    const messages = Array.from({ length: after === 0 ? 400 : 1 }, (_, index) => ({
      role: "assistant",
      content: [{ type: "text", text: text(from + index) }],
    }));
    const event = { sequence: after + 1, type: "messages", occurred_at: body.created_at, data: { messages } };
    await route.fulfill({ json: { events: [event], next: after + 1, ended: false } });
  });
}

it("the page of a long run that is under way goes to its end, and stays there", async () => {
  const run = await app.api().create(commands("true"), { title: "Long", ...RUNBOOK });
  await app.api().ended(run);
  const { page, complaints } = await app.open("/runs");
  await serveLongRun(page, run);
  await page.getByRole("link", { name: "Long" }).click();
  const latest = page.getByRole("button", { name: "Latest" });
  await latest.click();
  const toEnd = () => page.evaluate("document.documentElement.scrollHeight - scrollY - innerHeight");
  await page.locator(".entry").getByText("Step 405").waitFor();
  // A step that has just arrived shows the button until the page has followed it.
  await latest.waitFor({ state: "detached" });
  await expect.poll(toEnd).toBeLessThan(1);
  await page.keyboard.press("Home");
  await latest.waitFor();
  await page.keyboard.press("End");
  await latest.waitFor({ state: "detached" });
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(complaints).toEqual([]);
});

describe("the form of a new run", () => {
  it("keeps what was written where the session ends or the page is loaded again, and creates one run of it", async () => {
    const { page, complaints } = await app.open("/runs/new");
    const prompt = page.getByLabel("Prompt", { exact: true });
    const start = page.getByRole("button", { name: "Start the run" });
    await prompt.fill(commands("echo once"));
    await page.getByLabel("Model", { exact: true }).selectOption("local/runbook");
    await page.getByLabel(/^Title/).fill("Started once");
    await page.context().clearCookies();
    await start.click();
    await page.getByLabel("API key").fill(app.key);
    await page.keyboard.press("Enter");
    await expect.poll(() => prompt.inputValue()).toBe(commands("echo once"));
    await page.reload();
    let isLost = true;
    await page.route("**/agent/runs", async (route) => {
      if (!isLost) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await start.click();
    await page.getByText("cannot be reached").waitFor();
    isLost = false;
    await start.click();
    await page.getByRole("heading", { name: "Started once", level: 1 }).waitFor();
    const { runs } = (await app.api().call("GET", "/agent/runs?q=Started%20once")).body;
    expect(runs).toHaveLength(1);
    const followUp = page.getByRole("textbox", { name: /follow-up$/ });
    await followUp.fill("And then?");
    await page.reload();
    await expect.poll(() => followUp.inputValue()).toBe("And then?");
    await page.keyboard.press("n");
    await prompt.waitFor();
    await expect.poll(() => prompt.inputValue()).toBe("");
    expect(complaints).toEqual([]);
  });

  it("fails at once while the browser is offline, and the app is loaded again only where that helps", async () => {
    const { page } = await app.open("/runs/new");
    await page.getByLabel("Prompt", { exact: true }).fill("Go.");
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByText("cannot be reached").waitFor();
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByText("could not be loaded").waitFor();
    await page.context().setOffline(false);
    await page.getByRole("heading", { name: "Schedules", level: 1 }).waitFor();
    // A file that a deployment replaced.
    await page.route(/\/agents-page[^/]*\.js$/, (route) => route.fulfill({ status: 404 }), { times: 1 });
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  });
});
