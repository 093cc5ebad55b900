import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runTool } from "../../scripts/run-command.ts";
import { openBrowser, type VisitOptions, visit } from "./support/browser.ts";
import { FakeRun } from "./support/fake-run.ts";
import { KEY, Site, webDirectory } from "./support/site.ts";

const read = (file: string): string => readFileSync(path.join(webDirectory, file), "utf8");
const files = globSync("**/*", { cwd: webDirectory }).sort();

describe("the files of the page", () => {
  it("agree with the types of the wire", async () => {
    const { exitCode, output } = await runTool("tsc", ["-p", "test/web/page.tsconfig.json", "--pretty", "false"]);
    expect(output).toBe("");
    expect(exitCode).toBe(0);
  });

  it("are fewer than 30 kB of script and style as they are sent", () => {
    const sent = files.filter((file) => /\.(js|css)$/.test(file)).map((file) => gzipSync(read(file)).length);
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(30_000);
  });

  it("have names that both front doors tell from addresses of pages, at the top, where every address finds them", () => {
    expect(files.filter((file) => !/^[a-z-]+\.(html|js|css|svg)$/.test(file))).toEqual([]);
    expect(read("index.html").match(/(?:href|src)="(?!\/)[^"]*"/g)).toBeNull();
  });

  it("make no markup of text and hold no script or style in the page", () => {
    const scripts = files.filter((file) => file.endsWith(".js"));
    const risky = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|\.style\b/;
    expect(scripts.filter((file) => risky.test(read(file)))).toEqual([]);
    expect(read("index.html")).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*src=)/);
  });
});

describe("the page", () => {
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
    run.begin();
    run.command("c1", "ls", { exit_code: 0, stdout: "README.md", duration_ms: 12 });
    const data = { artifact_uid: "a-1", filepath: "x", filename: "x.txt", mime_type: "text/plain" };
    run.artifact({ artifact_type: "FILE", created_at: run.item.created_at, data });
    run.end();
    site.runs = [run];
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  it("has landmarks, one first heading, headings in order, and a name for all that can be pressed", async () => {
    for (const address of ["/", `/runs/${run.item.run_id}`]) {
      const { page } = await visit(browser, { ...site, path: address, key: KEY });
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.getByRole("banner").count()).toBe(1);
      expect(await page.getByRole("main").count()).toBe(1);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await page.getByRole("heading", { level: 3 }).count()).toBe(0);
      for (const control of await page.locator("button:visible, a:visible, summary:visible").all()) {
        expect((await control.innerText()).trim()).not.toBe("");
      }
      expect(await page.evaluate("document.documentElement.lang")).toBe("en");
    }
  });

  it("breaks no rule of accessibility that a machine can judge", async () => {
    const failed = new FakeRun({ run_id: "run-failed" });
    failed.begin();
    failed.command("c1", "seq 99", { exit_code: 1, stdout: "line\n".repeat(99), duration_ms: 12 });
    failed.end("FAILED", "It failed.");
    const addresses = ["/", `/runs/${run.item.run_id}`, "/runs/run-failed", "/runs/unknown"];
    for (const colorScheme of ["light", "dark"] as const) {
      site.runs = [run, failed, new FakeRun({ run_id: "run-waiting" })];
      for (const address of addresses) await judge({ ...site, path: address, key: KEY, colorScheme });
      await judge({ ...site, colorScheme });
      site.runs = [];
      await judge({ ...site, key: KEY, colorScheme });
    }
  });

  async function judge(options: VisitOptions): Promise<void> {
    const { page } = await visit(browser, options);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.evaluate(axe.source);
    const found = await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))",
    );
    expect(found, `${options.path} ${options.colorScheme}`).toEqual([]);
    await page.context().close();
  }

  it("fits a screen of 360 pixels, in the light and in the dark", async () => {
    const grounds = new Set<unknown>();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const address of ["/", `/runs/${run.item.run_id}`]) {
        const { page } = await visit(browser, { ...site, path: address, key: KEY, width: 360, colorScheme });
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
        grounds.add(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor"));
      }
    }
    expect(grounds.size).toBe(2);
  });

  it("moves nothing for those who asked for less motion", async () => {
    const waiting = new FakeRun({ run_id: "run-waiting" });
    site.runs = [waiting];
    const { page } = await visit(browser, { ...site, path: "/runs/run-waiting", key: KEY });
    await page.getByText("Live", { exact: true }).waitFor();
    const animations = () => page.evaluate("document.getAnimations().length");
    expect(await animations()).toBe(1);
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await animations()).toBe(0);
  });

  it("can be used by keyboard alone", async () => {
    const { page } = await visit(browser, site);
    await page.keyboard.type(KEY);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Inspect the repository", level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Download x.txt");
  });
});
