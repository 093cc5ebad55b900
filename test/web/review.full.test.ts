import { describe, expect, it } from "vitest";
import { Repository } from "../harness/support/repository.ts";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** A run that has changed two files of a repository. */
async function createChange(): Promise<string> {
  using shop = new Repository("shop", { "src/a.ts": "one\ntwo\nthree\n", "docs/notes.md": "notes\n" });
  const change = commands("sed -i s/two/TWO/ src/a.ts && echo more >> docs/notes.md");
  const config = { ...RUNBOOK.config, repositories: [{ url: shop.url }] };
  const run = await app.api().create(change, { title: "Change the shop", config });
  await app.api().ended(run);
  return run;
}

describe("the changes of a run", () => {
  it("are reviewed file by file, with comments that are kept and sent as one follow-up", async () => {
    const run = await createChange();
    const { page, complaints } = await app.open(`/runs/${run}`);
    await page.getByRole("region", { name: "Result" }).getByRole("button", { name: "2 changed files" }).click();
    const review = page.getByRole("region", { name: "Changes" });
    await review.locator(".diff-add", { hasText: "TWO" }).waitFor();
    await review.getByRole("button", { name: "Hide src/a.ts" }).click();
    await review.locator(".diff-add", { hasText: "TWO" }).waitFor({ state: "detached" });
    await review.getByRole("navigation").getByRole("button", { name: /^a.ts/ }).click();
    const changed = review.locator(".diff-add", { hasText: "TWO" });
    await changed.getByRole("button", { name: "Comment on line 2" }).click();
    await review.getByLabel("Comment", { exact: true }).fill("Why in capitals?");
    await page.keyboard.press("Control+Enter");
    await review.getByText("1 comment", { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.reload();
    await page.getByRole("button", { name: "2 changed files" }).click();
    await review.getByText("Why in capitals?").waitFor();
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await review.getByRole("button", { name: "Send as one follow-up" }).click();
    expect((await sent).postDataJSON()).toEqual({
      message: "Comments on your changes:\n\n1. `shop/src/a.ts`, line 2:\n\n   ` TWO `\n\n   Why in capitals?",
    });
    await review.getByText("Why in capitals?").waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("show the unchanged lines between two changes of a file", async () => {
    using shop = new Repository("shop", { "list.txt": Array.from({ length: 60 }, (_, at) => `line ${at}\n`).join("") });
    const change = commands("sed -i 's/line 10$/first/; s/line 45$/second/' list.txt");
    const config = { ...RUNBOOK.config, repositories: [{ url: shop.url }] };
    const run = await app.api().create(change, { title: "Change the list", config });
    await app.api().ended(run);
    const { page } = await app.open(`/runs/${run}`);
    await page.getByRole("button", { name: "1 changed file" }).click();
    const between = page.locator(".diff-same", { hasText: "line 30" });
    await page.locator(".diff-add", { hasText: "second" }).waitFor();
    expect(await between.count()).toBe(0);
    await page.getByRole("button", { name: "Show 28 unchanged lines" }).click();
    await between.waitFor();
  });

  it("fit into a narrow window, and lead to a pull request that the agent is asked for", async () => {
    const run = await createChange();
    const { page, complaints } = await app.open(`/runs/${run}`, { width: 320 });
    await page.getByRole("button", { name: "2 changed files" }).click();
    await page.locator(".diff-add", { hasText: "TWO" }).waitFor();
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Ask the agent for a pull request" }).click();
    expect((await sent).postDataJSON().message).toContain("open a pull request");
    // The runbook of this run creates none.
    await page.getByText("The agent has reported no pull request").waitFor();
    await page.getByRole("button", { name: "Ask again" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
