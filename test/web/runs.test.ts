import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, visit } from "./support/browser.ts";
import { createRun, type SingleMachine, startSingleMachine } from "./support/single-machine.ts";

describe("the pages of runs", () => {
  let machine: SingleMachine;
  let browser: Browser;

  beforeAll(async () => {
    [machine, browser] = await Promise.all([startSingleMachine(), openBrowser()]);
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await machine?.stop();
  });

  it("sign in with a key, and show a run from its start to its end", async () => {
    const { page, complaints } = await visit(browser, { origin: machine.origin });
    await page.getByLabel("API key").fill("ryp_wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This key is not valid").waitFor();
    await page.getByLabel("API key").fill(machine.key);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();
    await createRun(machine, "Say hello", "echo hello; exit 3");
    await page.getByRole("link", { name: "Say hello" }).click();
    await page.getByText("exit 3", { exact: true }).waitFor();
    await page.getByRole("status").getByText("Failed").waitFor();
    expect(await page.locator(".terminal-text").innerText()).toContain("hello");
    expect(complaints).toEqual([]);
  });

  it("find runs by search and quick filter, and open them by keyboard", async () => {
    await createRun(machine, "Count the sheep", "seq 3");
    const { page } = await visit(browser, { origin: machine.origin, path: "/runs", key: machine.key });
    await page.getByRole("link", { name: "Count the sheep" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("sheep");
    await page.waitForURL(/q=sheep/);
    await page.getByRole("link", { name: "Say hello" }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Runs", level: 1 }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Count the sheep", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Failed" }).click();
    await page.getByText("No matching runs").waitFor();
    await page.getByRole("button", { name: "Show all runs" }).click();
    await page.getByRole("link", { name: "Say hello" }).waitFor();
  });
});
