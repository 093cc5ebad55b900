import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Repository } from "../harness/support/repository.ts";
import { findViolations } from "./support/axe.ts";
import { pageWidth, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

let repository: Repository;
beforeAll(() => {
  repository = new Repository("shop", {
    ".agents/skills/review/SKILL.md": "---\nname: review\ndescription: Reviews a change.\n---\n\nLook at it.\n",
    ".agents/skills/broken/SKILL.md": "No front matter.\n",
  });
});
afterAll(() => repository[Symbol.dispose]());

describe("the resources that the web app shows", () => {
  it("are models with their prices, skills that start a run, and workers or how to connect one", async () => {
    const { call } = app.api();
    const request = { name: "Shop", repositories: [{ url: repository.url }] };
    const environment = (await call("POST", "/agent/environments", request)).body.uid;
    const { page, complaints } = await app.open("/runs");
    await page.route("**/agent/models", async (route) => {
      const { models, ...rest } = await (await route.fetch()).json();
      const disabled = (model: { id: string }) =>
        model.id === "compatible/test" ? { ...model, disable_reason: "ADMIN_DISABLED" } : model;
      return route.fulfill({ json: { ...rest, models: models.map(disabled) } });
    });
    await page.getByRole("link", { name: "Resources" }).click();
    const models = page.getByRole("region", { name: "Models" }).getByRole("listitem");
    const disabled = models.filter({ hasText: "compatible/test" });
    await disabled.getByText("$2 in, $10 out per million tokens").waitFor();
    await disabled.getByText("Disabled in this deployment").waitFor();
    await models.filter({ hasText: "local/runbook" }).getByText("Free").waitFor();

    const workers = page.getByRole("region", { name: "Workers" });
    await workers.getByText("No connected workers").waitFor();
    await workers.getByText("runyard worker --id NAME").waitFor();
    await page.route("**/connected-self-hosted-workers", (route) => {
      const at = new Date().toISOString();
      const worker = { worker_host: "rack-7", connection_count: 2, connected_at: at, last_seen_at: at };
      return route.fulfill({ json: { workers: [worker] } });
    });
    await page.reload();
    await workers.getByText("rack-7").waitFor();
    await workers.getByText("2 connections").waitFor();

    const skills = page.getByRole("region", { name: "Skills" }).getByRole("listitem");
    await skills.filter({ hasText: "Reviews a change." }).getByText("Not run yet").waitFor();
    const broken = skills.filter({ hasText: "broken" });
    await broken.locator(".field-error").waitFor();
    await expect.poll(() => broken.getByRole("link").count()).toBe(0);
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
    await page.getByRole("link", { name: "Start a run with review" }).click();
    await page.getByRole("option", { name: "Shop" }).waitFor({ state: "attached" });
    await expect.poll(() => page.getByLabel("Environment", { exact: true }).inputValue()).toBe(environment);
    await expect
      .poll(() => page.getByLabel(/^Skill/).inputValue())
      .toMatch(/\/shop:\.agents\/skills\/review\/SKILL\.md$/);
    expect(complaints).toEqual([]);
  });

  it("are read again on request, and name the repositories that cannot be read", async () => {
    const { page, complaints } = await app.open("/resources");
    const skills = page.getByRole("region", { name: "Skills" });
    await skills.getByText("Reviews a change.").waitFor();
    const unavailable = [
      { owner: "acme", name: "secret", environments: [], error: "GitHub shows no such repository." },
    ];
    await page.route("**/api/v1/agent?*refresh=true*", (route) => route.fulfill({ json: { agents: [], unavailable } }));
    await skills.getByRole("button", { name: "Read again" }).click();
    await skills.getByText("GitHub shows no such repository.").waitFor();
    await expect.poll(() => skills.getByText("Reviews a change.").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
