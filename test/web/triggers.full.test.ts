import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findViolations } from "./support/axe.ts";
import { pageWidth, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

const dialog = (page: Page) => page.getByRole("dialog");

/** Creates a trigger through the API, whose events prove themselves by the secret. */
async function createTrigger(request: Record<string, unknown> = {}) {
  const { body } = await app.api().call("POST", "/agent/triggers", {
    name: `builds ${randomUUID()}`,
    kind: "webhook",
    verification: { scheme: "bearer" },
    prompt: "Build {{ event.payload.build }} failed.",
    filter: 'event.payload.branch == "main"',
    ...request,
  });
  return body;
}

const send = (trigger: { ingress_url: string; secret: string }, payload: object) =>
  fetch(trigger.ingress_url, {
    method: "POST",
    headers: { authorization: `Bearer ${trigger.secret}`, "content-type": "application/json" },
    body: JSON.stringify(payload),
  });

describe("triggers in the web app", () => {
  it("are created from a template, show their secret once, and are edited and deleted", async () => {
    const { page, complaints } = await app.open("/triggers");
    await page.getByRole("button", { name: "New trigger" }).first().click();
    await dialog(page).getByRole("button", { name: "Fix a failed build" }).click();
    await expect.poll(() => dialog(page).getByLabel("Name").inputValue()).toBe("failed builds");
    await dialog(page).getByLabel("Filter").fill("event.payload.build ==");
    await dialog(page).getByRole("button", { name: "Create the trigger" }).click();
    await dialog(page).locator(".field-error").waitFor();
    await dialog(page).getByLabel("Filter").fill('event.payload.workflow_run.conclusion == "failure"');
    expect(await findViolations(page)).toEqual([]);
    await dialog(page).getByRole("button", { name: "Create the trigger" }).click();
    await expect.poll(() => dialog(page).locator(".secret code").innerText()).not.toBe("");
    await dialog(page).getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: "failed builds" }).click();
    await page.getByRole("region", { name: "Address" }).getByText("/hooks/").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog(page).getByLabel("Name").fill("red builds");
    await dialog(page).getByLabel("Pause after failures in a row").fill("3");
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "red builds" }).waitFor();
    const [stored] = (await app.api().call("GET", "/agent/triggers")).body.triggers;
    expect(stored).toMatchObject({
      kind: "github",
      name: "red builds",
      events: ["workflow_run.completed"],
      pause_after_failures: 3,
    });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the trigger" }).click();
    await page.getByText("No triggers yet").waitFor();
    expect(complaints).toEqual([]);
  });

  it("show what was decided about each event with its payload, and deliver it again", async () => {
    const trigger = await createTrigger();
    await send(trigger, { type: "build", build: "shop-1", branch: "dev" });
    const { page, complaints } = await app.open(`/triggers/${trigger.uid}`);
    const deliveries = page.getByRole("region", { name: "Deliveries" });
    await deliveries.getByText("Ignored", { exact: true }).last().waitFor();
    await send(trigger, { type: "build", build: "shop-2", branch: "main" });
    await deliveries.locator(".badge", { hasText: "Started a run" }).waitFor();
    await deliveries.getByLabel("Outcome").selectOption("ignored");
    await expect.poll(() => deliveries.getByRole("listitem").count()).toBe(1);
    await deliveries.getByRole("button", { name: "build" }).click();
    await dialog(page).locator("code", { hasText: "shop-1" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog(page).getByRole("button", { name: "Deliver again" }).click();
    await dialog(page).getByText("The event is delivered again.").waitFor();
    await dialog(page).getByRole("button", { name: "Close" }).last().click();
    await expect.poll(() => deliveries.getByRole("listitem").count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  it("test another prompt with the latest event, and name the position of an error in it", async () => {
    const trigger = await createTrigger({ filter: "" });
    await send(trigger, { type: "build", build: "shop-3" });
    const { page } = await app.open(`/triggers/${trigger.uid}`);
    await page.getByRole("region", { name: "Deliveries" }).getByRole("listitem").waitFor();
    await page.getByText("Test a prompt with the latest event").click();
    await page.getByLabel("Template").fill("Look at {{ event.payload.build ");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.locator(".field-error", { hasText: "line 1" }).waitFor();
    await page.getByLabel("Template").fill("Look at {{ event.payload.build }}.");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.locator("code", { hasText: "Look at shop-3." }).waitFor();
  });

  it("fit on a phone", async () => {
    const trigger = await createTrigger();
    const { page } = await app.open(`/triggers/${trigger.uid}`, { width: 320 });
    await page.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
  });
});
