import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { useWebApp } from "./support/web-app.ts";

const app = useWebApp(async () => ({ RUNYARD_WEBHOOKS_ALLOW_PRIVATE: "1" }));

/** Clicks a button whose POST is carried out and has its response lost, also when the client repeats it, and clicks it again. */
async function clickTwice(page: Page, name: string, path: string): Promise<void> {
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await route.fetch();
    return route.abort();
  });
  const button = page.getByRole("button", { name });
  await button.click();
  await page.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await page.unroute(`**/api/v1${path}`);
  await button.click();
}

const list = async (path: string, member: string) => (await app.api().call("GET", path)).body[member];

describe("a second click after a lost response", () => {
  it("creates no second webhook, and shows the secret of the first", async () => {
    const { page } = await app.open("/settings/webhooks");
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByRole("dialog").getByLabel("URL").fill("http://127.0.0.1:1/");
    await clickTwice(page, "Create the webhook", "/agent/webhooks");
    await page.getByText(/^whsec_/).waitFor();
    expect(await list("/agent/webhooks", "webhooks")).toHaveLength(1);
  });

  it("creates no second key, although its expiry depends on the time, and says that the first cannot be shown", async () => {
    const { page } = await app.open("/settings/keys");
    await page.getByRole("region", { name: "Your API keys" }).getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("laptop");
    await clickTwice(page, "Create the key", "/agent/keys");
    await page.getByText("a key is shown only once: delete it and create another").waitFor();
    const keys: { name: string }[] = await list("/agent/keys", "keys");
    expect(keys.filter(({ name }) => name === "laptop")).toHaveLength(1);
  });

  it("creates no second run, although it has an attachment", async () => {
    const { page } = await app.open("/runs/new");
    await page.getByLabel("Prompt", { exact: true }).fill(commands("cat attachments/*"));
    await page.getByLabel("Model", { exact: true }).selectOption("local/runbook");
    await page
      .getByLabel("Attach files")
      .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await clickTwice(page, "Start the run", "/agent/runs");
    await page.waitForURL(/\/runs\/[0-9a-f]/);
    expect(await list("/agent/runs", "runs")).toHaveLength(1);
  });

  it("of an equal request that follows a response creates another one", async () => {
    const { page } = await app.open("/settings/webhooks");
    for (const count of [1, 2]) {
      await page.getByRole("button", { name: "New webhook" }).click();
      await page.getByRole("dialog").getByLabel("URL").fill("http://127.0.0.1:2/");
      await page.getByRole("button", { name: "Create the webhook" }).click();
      await page.getByRole("button", { name: "Done" }).click();
      const webhooks: { url: string }[] = await list("/agent/webhooks", "webhooks");
      expect(webhooks.filter(({ url }) => url === "http://127.0.0.1:2/")).toHaveLength(count);
    }
  });
});
