import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

beforeAll(async () => {
  const { create, ended } = app.api();
  for (const title of ["one", "two", "three"]) {
    const metadata = { batch: title === "three" ? "b" : "a" };
    await ended(await create(commands("true"), { title, metadata, ...RUNBOOK }));
  }
});

const titles = (page: Page) => page.locator(".run-row-title").allInnerTexts();
const check = (page: Page, title: string) => page.getByRole("checkbox", { name: `Select ${title}` });

describe("the list of runs", () => {
  it("archives the selected runs and all that match, starts one again, and deletes", async () => {
    const { page, complaints } = await app.open("/runs?metadata=batch%3Da");
    await expect.poll(() => titles(page)).toEqual(["two", "one"]);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await check(page, "two").check();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByText("1 run archived.").waitFor();
    await expect.poll(() => titles(page)).toEqual(["one"]);
    await check(page, "one").check();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click();
    await page.getByText("1 run started again.").waitFor();
    await expect.poll(() => titles(page)).toEqual(["one", "one"]);
    await page.goto(new URL("/runs?metadata=batch%3Da&archived=only", page.url()).href);
    await expect.poll(() => titles(page)).toEqual(["two"]);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await check(page, "two").check();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No matching runs").waitFor();
    expect(complaints).toEqual([]);
  });

  it("moves the focus by j and k, selects by x, and sends the filters for all that match", async () => {
    const { page } = await app.open("/runs?q=three");
    await page.getByRole("link", { name: "three" }).waitFor();
    // The list says that there are more than are loaded.
    await page.route("**/agent/runs?*", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, page_info: { has_next_page: true, next_cursor: "c" } } });
    });
    const sent: unknown[] = [];
    await page.route("**/agent/runs/archive", (route) => {
      sent.push(route.request().postDataJSON());
      const next = sent.length === 1 ? { has_next_page: true, next_cursor: "more" } : { has_next_page: false };
      const refused = [{ run_id: "x", error_code: "not_authorized" }];
      return route.fulfill({ json: { archived: ["a", "b"], matched: 3, refused, page_info: next } });
    });
    await page.reload();
    await page.getByRole("link", { name: "three" }).waitFor();
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).click();
    await page.keyboard.press("j");
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("run-row");
    await page.keyboard.press("x");
    await expect.poll(() => check(page, "three").isChecked()).toBe(true);
    await page.getByRole("button", { name: "Select all matching runs" }).click();
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByText("4 runs archived. 2 not: it is not yours to change.").waitFor();
    expect(sent).toEqual([{ filter: { q: "three" } }, { filter: { q: "three" }, cursor: "more" }]);
    // The list may be read again just now.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("keeps views that the person saves, and filters by several states", async () => {
    const { page } = await app.open("/runs");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByLabel("Failed", { exact: true }).check();
    await page.getByLabel("Error", { exact: true }).check();
    await page.waitForURL(/state=FAILED(,|%2C)ERROR/);
    await page.getByLabel("Save as a view").fill("Broken");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.goto(new URL("/runs", page.url()).href);
    await page.getByRole("button", { name: "Broken", exact: true }).click();
    await page.waitForURL(/state=FAILED(,|%2C)ERROR/);
    await page.getByText("No matching runs").waitFor();
    await page.getByRole("button", { name: "Remove the view Broken" }).click();
    await expect.poll(() => page.getByRole("list", { name: "Saved views" }).count()).toBe(0);
  });
});
