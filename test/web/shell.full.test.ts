import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();
let run: string;

beforeAll(async () => {
  const { create, ended } = app.api();
  run = await create(commands("true"), { title: "Count the sheep", ...RUNBOOK });
  await ended(run);
});

describe("the palette", () => {
  it("opens pages, runs and actions by keyboard, also while the person is typing", async () => {
    const { page, complaints } = await app.open("/runs");
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.getByRole("searchbox", { name: "Search runs" }).focus();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Page, run or action" });
    await field.waitFor();
    await page.getByRole("option", { name: "Count the sheep" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type("usag");
    await expect.poll(() => page.getByRole("option", { selected: true }).innerText()).toContain("Usage");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/usage/);
    await page.keyboard.press("Control+k");
    await field.fill("sheep");
    await page.getByRole("option", { name: /Count the sheep/ }).click();
    await page.waitForURL(new RegExp(run));
    await page.keyboard.press("Control+k");
    await field.fill("again");
    await page.getByRole("option", { name: "Run again" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    await page.keyboard.press("Control+k");
    await field.fill("nothing has this name");
    await page.getByRole("option", { name: "Search runs for" }).waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});

it("the keys after g open the pages, and the help names them", async () => {
  const { page } = await app.open("/runs");
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  for (const [key, name] of [
    ["s", "Schedules"],
    ["i", "Inbox"],
    [",", "Settings"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("g s", { exact: true }).waitFor();
});
