import type { Browser } from "playwright-core";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser, visit } from "./support/browser.ts";
import { FakeRun } from "./support/fake-run.ts";
import { KEY, Site } from "./support/site.ts";

const IMAGE = `<img src=x onerror="alert('image')">`;
const SCRIPT = "</pre></script><script>alert('script')</script><svg onload=alert(1)>";
const ADDRESS = "javascript:alert('address')";
const ALL = `${IMAGE} ${SCRIPT} ${ADDRESS}`;

describe("what hostile text says", () => {
  const site = new Site();
  let browser: Browser;

  beforeAll(async () => {
    await site.start();
    browser = await openBrowser();
  });
  beforeEach(() => site.reset());
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  it("stays text wherever a run shows it", async () => {
    const run = hostileRun();
    site.runs = [run];
    const { page, complaints } = await visit(browser, { ...site, path: `/runs/${run.item.run_id}`, key: KEY });
    await page.getByText("Ended", { exact: true }).waitFor();
    const shown = await page.locator("main").innerText();
    // Title, prompt, answer, command, output, tool name, tool data, event, file name, timeline, status message, creator, model.
    expect(shown.split(IMAGE).length - 1).toBeGreaterThanOrEqual(13);
    expect(await page.locator("main :is(img, svg, script, iframe, style)").count()).toBe(0);
    const addresses = await page.evaluate("Array.from(document.links, (link) => link.href)");
    expect(v.parse(v.array(v.string()), addresses).filter((address) => !address.startsWith(`${site.origin}/`))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
  });

  it("stays text in the list", async () => {
    site.runs = [new FakeRun({ title: ALL })];
    const { page, complaints } = await visit(browser, { ...site, key: KEY });
    await page.getByRole("link", { name: ALL }).waitFor();
    expect(await page.locator("main :is(img, svg, script)").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("does not move the cursor of a terminal that is not there, and breaks no layout", async () => {
    const run = new FakeRun({ title: "W".repeat(512) });
    run.begin();
    const colours = "\u001b[31mred\u001b[0m \u0007\u0000bell \u202Ebackwards";
    run.command("c1", "x".repeat(9000), { exit_code: 0, stdout: colours, duration_ms: 1 });
    run.end();
    site.runs = [run];
    const { page } = await visit(browser, { ...site, path: `/runs/${run.item.run_id}`, key: KEY, width: 360 });
    await page.getByText("red bell").waitFor();
    await page.getByText("Show 5,000 more characters").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });

  it("cannot make an artifact's address lead to a script, nor a download go anywhere but the web", async () => {
    const run = new FakeRun();
    run.begin();
    const data = { artifact_uid: "a-1", filepath: "x", filename: "x.txt", mime_type: "text/plain" };
    run.artifact({ artifact_type: "FILE", created_at: run.item.created_at, data });
    run.end();
    site.runs = [run];
    const { page, complaints } = await visit(browser, { ...site, path: `/runs/${run.item.run_id}`, key: KEY });
    site.fail("/agent/artifacts/a-1", { status: 200, body: { data: { download_url: ADDRESS } } });
    await page.getByRole("button", { name: "Download x.txt" }).click();
    await page.getByText("Its address is none that a browser should open.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("of artifact types to come is a link where it is https, and text where it is anything else", async () => {
    const run = new FakeRun();
    run.begin();
    run.end();
    site.runs = [run];
    const artifact = (url: string) => ({
      artifact_type: "PULL_REQUEST",
      created_at: "",
      data: { url, title: "A change" },
    });
    const artifacts = [
      artifact("https://git.example/1"),
      artifact(ADDRESS),
      artifact("data:text/html,x"),
      artifact("//x.example"),
    ];
    site.fail(`/agent/runs/${run.item.run_id}`, { status: 200, body: { ...run.item, artifacts } }, 2);
    const { page, complaints } = await visit(browser, { ...site, path: `/runs/${run.item.run_id}`, key: KEY });
    const files = page.getByRole("region", { name: "Files" });
    await files.getByText(ADDRESS).waitFor();
    expect(await files.getByRole("link").count()).toBe(1);
    expect(await files.getByRole("link").getAttribute("href")).toBe("https://git.example/1");
    expect(await files.getByRole("link").getAttribute("rel")).toBe("noopener noreferrer");
    expect(complaints).toEqual([]);
  });

  it("could do nothing even as markup: the policy refuses scripts, styles and addresses that are not the page's own", async () => {
    const { page, complaints } = await visit(browser, { ...site, key: KEY });
    await page.getByText("There are no runs yet").waitFor();
    const outcome = await page.evaluate(`(async () => {
      document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(`${IMAGE}<a id=evil href="${ADDRESS}">x</a>`)});
      document.getElementById("evil").click();
      return fetch(${JSON.stringify(site.storage)}, { mode: "no-cors" }).then(() => "sent", () => "refused");
    })()`);
    expect(outcome).toBe("refused");
    await expect
      .poll(() => complaints.filter((text) => text.includes("Content Security Policy")).length)
      .toBeGreaterThan(1);
    expect(complaints.filter((text) => text.startsWith("a dialog"))).toEqual([]);
  });
});

function hostileRun(): FakeRun {
  const run = new FakeRun({
    title: ALL,
    prompt: ALL,
    creator: { type: "user", uid: "u-1", display_name: ALL },
    agent_config: { model_id: ALL },
    parent_run_id: "..//evil.example",
  });
  run.begin();
  run.say("setup_repo_clone", { detail: ALL, is_error: true, duration_ms: 5 });
  run.text("user", ALL);
  run.text("assistant", ALL);
  run.command("c1", ALL, { exit_code: 0, stdout: ALL, duration_ms: 1 });
  const tool = { category: "integration", name: IMAGE } as const;
  run.messages({
    role: "assistant",
    content: [{ type: "action", id: "c2", ...tool, input: { url: IMAGE.replaceAll('"', "'") } }],
  });
  run.messages({ role: "assistant", content: [{ type: "event", name: IMAGE, data: ALL }] });
  const data = { artifact_uid: "../../x", filepath: "x", filename: IMAGE, mime_type: "text/html", description: ALL };
  run.artifact({ artifact_type: "FILE", created_at: run.item.created_at, data });
  run.end("FAILED", ALL);
  return run;
}
