import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser, visit } from "./support/browser.ts";
import { FakeRun } from "./support/fake-run.ts";
import { KEY, problem, Site } from "./support/site.ts";

describe("the page of a run", () => {
  const site = new Site();
  let browser: Browser;
  let run: FakeRun;

  beforeAll(async () => {
    await site.start();
    browser = await openBrowser();
  });
  beforeEach(() => {
    site.reset();
    run = new FakeRun();
    site.runs = [run];
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  const open = () => visit(browser, { ...site, path: `/runs/${run.item.run_id}`, key: KEY });

  it("follows the run from its start to its end", async () => {
    const { page, complaints } = await open();
    const status = page.getByRole("article").getByRole("status");
    const conversation = page.getByRole("region", { name: "Conversation" });
    const timeline = page.getByRole("region", { name: "Timeline" });
    await page.getByRole("heading", { name: "Inspect the repository", level: 1 }).waitFor();
    await status.getByText("Queued").waitFor();
    await status.getByText("Live", { exact: true }).waitFor();
    await conversation.getByText("Look around.").waitFor();
    expect(await page.title()).toBe("Inspect the repository · Runyard");

    run.begin();
    await status.getByText("In progress").waitFor();
    await timeline.getByText("Worker container ready").waitFor();
    run.startCommand("c1", "git log --oneline");
    await conversation.getByText("running…").waitFor();
    const kind = { category: "command", name: "run_command" } as const;
    const output = { exit_code: 3, stdout: "fatal: not a repository", duration_ms: 1234 };
    const result = { type: "action_result", action_id: "c1", ...kind, state: "failed", output } as const;
    run.messages({ role: "tool", content: [result] });
    await conversation.getByText("exit code 3 · 1.2 s").waitFor();
    run.text("assistant", "It is no repository.");
    await conversation.getByText("It is no repository.").waitFor();
    expect(await conversation.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/^User\s+19:00:00\s+Look around\.$/),
      expect.stringMatching(/^Command\s+exit code 3 · 1\.2 s\s+\S+\s+git log --oneline\s+fatal: not a repository$/),
      expect.stringMatching(/^Agent\s+\S+\s+It is no repository\.$/),
    ]);

    run.end("FAILED", "Step 1 of 1 failed: `git log --oneline` ended with exit code 3.");
    await status.getByText("Failed").waitFor();
    await status.getByText("Ended").waitFor();
    await page.getByRole("banner").or(page.getByRole("article")).getByText("Step 1 of 1 failed").first().waitFor();
    expect(await timeline.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringContaining("Run created"),
      expect.stringContaining("Run pending"),
      expect.stringMatching(/Worker container ready[\s\S]*320 ms/),
      expect.stringMatching(/Run failed[\s\S]*Step 1 of 1 failed/),
    ]);
    const facts = await page.locator("dl").innerText();
    for (const fact of ["local/runbook", "Ada", "1 min 3 s", run.item.run_id]) expect(facts).toContain(fact);
    expect(complaints).toEqual([]);
  });

  it("asks for each event once, waits for the next, and stops asking when the run has ended", async () => {
    run.begin();
    const { page } = await open();
    await page.getByText("Live", { exact: true }).waitFor();
    run.end();
    await page.getByText("Ended", { exact: true }).waitFor();
    const asked = () => site.asked.filter((path) => path.includes("/events"));
    expect(asked().map((path) => path.split("?")[1])).toEqual(["after=0&wait=20", "after=3&wait=20"]);
    await page.waitForTimeout(1500);
    expect(asked()).toHaveLength(2);
  });

  it("looks again when its reader comes back, since a follow-up may have revived the run", async () => {
    run.begin();
    run.end();
    const { page } = await open();
    await page.getByText("Ended", { exact: true }).waitFor();
    run.ended = false;
    run.say("followup_received", { state: "QUEUED" }, { state: "QUEUED" });
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("Followup received").waitFor();
  });

  it("lets go of its long poll when its reader leaves", async () => {
    const { page } = await open();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => run.readers).toBe(1);
    const before = site.asked.length;
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    run.begin();
    await page.waitForTimeout(300);
    expect(site.asked.slice(before).filter((path) => path.includes("/events"))).toEqual([]);
    await page.goBack();
    await page.getByText("In progress", { exact: true }).waitFor();
  });

  it("says that it reconnects after a 503, misses nothing and shows nothing twice", async () => {
    const { page } = await open();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => run.readers).toBe(1);
    site.fail("/events", problem(503, "Resource unavailable", "resource_unavailable", { "retry-after": "1" }), 2);
    run.begin();
    await page.getByText("Reconnecting…").waitFor();
    run.text("assistant", "Said while nobody heard it.");
    await page.getByText("Said while nobody heard it.").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.getByText("Said while nobody heard it.").count()).toBe(1);
    expect(await page.getByText("Run pending").count()).toBe(1);
  });

  it("catches up with the run's state when reading it failed in between", async () => {
    const { page } = await open();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => run.readers).toBe(1);
    site.fail(`/agent/runs/${run.item.run_id}`, problem(500, "Internal error", "internal_error"));
    run.begin();
    run.end();
    await page.getByText("Succeeded", { exact: true }).waitFor();
    expect(await page.getByText("Worker container ready").count()).toBe(1);
  });

  it("folds a long output and shows all of it on demand", async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1}`);
    run.begin();
    run.command("c1", "seq 300", { exit_code: 0, stdout: `${lines.join("\n")}\n`, duration_ms: 12 });
    const { page } = await open();
    const rest = page.getByText("line 300");
    await page.getByText("Show 288 more lines").waitFor();
    expect(await rest.isVisible()).toBe(false);
    await page.getByText("Show 288 more lines").focus();
    await page.keyboard.press("Enter");
    await rest.waitFor();
    const output = await page.locator(".output pre").allInnerTexts();
    expect(output.join("\n")).toBe(lines.join("\n"));
  });

  it("says of a command that its execution's end cut off that it has no result", async () => {
    run.begin();
    run.startCommand("c1", "sleep 600");
    const { page } = await open();
    await page.getByText("running…").waitFor();
    run.end("CANCELLED", "cancelled by Ada");
    await page.getByText("no result").waitFor();
  });

  it("downloads files and the transcript from where they lie, without the key", async () => {
    run.begin();
    run.artifact({
      artifact_type: "FILE",
      created_at: run.item.created_at,
      data: {
        artifact_uid: "a-1",
        filepath: "out/report.md",
        filename: "report.md",
        mime_type: "text/markdown",
        size_bytes: 2345,
      },
    });
    run.end();
    const { page, complaints } = await open();
    const files = page.getByRole("region", { name: "Files" });
    await files.getByText("2.3 kB").waitFor();
    const started = page.waitForEvent("download");
    await files.getByRole("button", { name: "Download report.md" }).click();
    const file = await started;
    expect(file.suggestedFilename()).toBe("report.md");
    expect(await readFile(await file.path(), "utf8")).toBe("content of report.md");
    const next = page.waitForEvent("download");
    await files.getByRole("button", { name: "Download the transcript" }).click();
    expect((await next).url()).toBe(`${site.storage}/transcript.jsonl`);
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Inspect the repository");
    expect(complaints).toEqual([]);
  });

  it("shows a plan as the text that it is", async () => {
    run.begin();
    run.end();
    const plan = {
      artifact_type: "PLAN",
      created_at: "",
      data: { document_uid: "p", artifact_uid: "p-1", title: "Mend it" },
    };
    site.fail(`/agent/runs/${run.item.run_id}`, { status: 200, body: { ...run.item, artifacts: [plan] } }, 2);
    const { page, complaints } = await open();
    const content = "# Mend it\n<b>1.</b> Reproduce it.";
    site.fail("/agent/artifacts/p-1", { status: 200, body: { data: { content } } });
    await page.getByRole("button", { name: "Show Mend it" }).click();
    await page.getByText("<b>1.</b> Reproduce it.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("says beside the button when a file cannot be had", async () => {
    run.begin();
    run.end();
    site.fail("/transcript", problem(404, "Resource not found (the run has no transcript yet)", "resource_not_found"));
    const { page } = await open();
    await page.getByRole("button", { name: "Download the transcript" }).click();
    await page.getByRole("alert").getByText("the run has no transcript yet").waitFor();
    await page.getByRole("heading", { name: "Inspect the repository" }).waitFor();
  });

  it("says of an unknown run that there is none", async () => {
    const { page, complaints } = await visit(browser, { ...site, path: "/runs/0199-unknown", key: KEY });
    await page.getByRole("heading", { name: "Nothing here" }).waitFor();
    await page.getByText("There is no such run").waitFor();
    expect(complaints).toEqual([]);
  });
});
