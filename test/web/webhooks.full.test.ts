import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WEBHOOK_EVENT_TYPES } from "#shared/wire/webhooks/webhook.ts";
import { verifyWebhook } from "../../clients/typescript/src/webhook.ts";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp(async () => ({ RUNYARD_WEBHOOKS_ALLOW_PRIVATE: "1" }));

const received: { headers: IncomingHttpHeaders; body: string }[] = [];
let status = 204;
let url: string;
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += String(chunk)));
  request.on("end", () => {
    received.push({ headers: request.headers, body });
    response.writeHead(status).end();
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port }: AddressInfo = JSON.parse(JSON.stringify(receiver.address()));
  url = `http://127.0.0.1:${port}/events`;
});
afterAll(() => new Promise((resolve) => receiver.close(resolve)));
afterEach(async () => {
  status = 204;
  for (const { uid } of await listWebhooks()) await app.api().call("DELETE", `/agent/webhooks/${uid}`);
});

const listWebhooks = async () => (await app.api().call("GET", "/agent/webhooks")).body.webhooks;

/** Creates a webhook through the API, and returns its uid. */
const createWebhook = async (request: Record<string, unknown>): Promise<string> =>
  (await app.api().call("POST", "/agent/webhooks", { url, ...request })).body.uid;

async function executeRun(): Promise<string> {
  const run = await app.api().create(commands("true"), RUNBOOK);
  await app.api().ended(run);
  return run;
}

const section = (page: Page) => page.getByRole("region", { name: "Webhooks" });
const inDialog = (page: Page) => page.getByRole("dialog");
const deliveries = (page: Page) => inDialog(page).getByRole("listitem");

async function openDeliveries(page: Page, name: string): Promise<void> {
  await section(page)
    .getByRole("button", { name: `Deliveries of ${name}` })
    .click();
}

describe("webhooks in the web app", () => {
  it("are created by keyboard, show their secret once and the deliveries of runs as they are made", async () => {
    const { page, complaints } = await app.open("/settings/webhooks");
    const create = section(page).getByRole("button", { name: "New webhook" });
    await create.press("Enter");
    await inDialog(page).getByRole("heading", { name: "New webhook" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("ftp://hooks");
    await page.keyboard.press("Enter");
    const field = inDialog(page).getByLabel("URL");
    const problem = inDialog(page).locator(".field-error");
    await problem.waitFor();
    await expect.poll(() => problem.innerText()).toContain("must be an https URL");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await expect
      .poll(() => field.getAttribute("aria-describedby"))
      .toBe(await problem.locator("..").getAttribute("id"));
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(url);
    await page.keyboard.press("Tab");
    await page.keyboard.type("Deployments");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    // All events, which is the default, and then none but one.
    await page.keyboard.press("Space");
    for (const _ of WEBHOOK_EVENT_TYPES.slice(0, WEBHOOK_EVENT_TYPES.indexOf("run_succeeded") + 1)) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    const secret = await inDialog(page).locator(".secret code").innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.keyboard.press("Escape");
    await inDialog(page).waitFor({ state: "detached" });
    await expect.poll(() => create.and(page.locator(":focus")).count()).toBe(1);
    await expect.poll(() => page.getByText(secret).count()).toBe(0);
    expect(await listWebhooks()).toMatchObject([{ name: "Deployments", url, event_types: ["run_succeeded"] }]);

    await section(page).getByText("Enabled").waitFor();
    await section(page).getByRole("button", { name: "Deliveries of Deployments" }).press("Enter");
    await inDialog(page).getByText("No deliveries").waitFor();
    const run = await executeRun();
    const delivery = deliveries(page).filter({ hasText: "Run succeeded" });
    await delivery.getByText("Delivered").waitFor();
    await delivery.getByText("HTTP 204").waitFor();
    await expect.poll(() => delivery.getByRole("link").getAttribute("href")).toBe(`/runs/${run}`);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    expect((await verifyWebhook(secret, headers, body)).data.run_id).toBe(run);
    expect(complaints).toEqual([]);
  });

  it("show why attempts failed and when the next one is, and are sent again on request", async () => {
    await createWebhook({ name: "Failing", event_types: ["run_succeeded"] });
    await createWebhook({ name: "Closed", url: "http://127.0.0.1:1/", event_types: ["run_created"] });
    status = 500;
    await executeRun();
    const { page, complaints } = await app.open("/settings/webhooks");
    await openDeliveries(page, "Closed");
    await deliveries(page).getByText("the connection failed: ECONNREFUSED").waitFor();
    await page.keyboard.press("Escape");
    await openDeliveries(page, "Failing");
    await deliveries(page).getByText("HTTP 500").first().waitFor();
    await deliveries(page).getByText("Pending").waitFor();
    await deliveries(page).getByText("Next attempt").waitFor();
    status = 204;
    await executeRun();
    const redeliver = (from: number) => page.getByRole("button", { name: `Redeliver from ${from}` });
    const second = deliveries(page).filter({ has: redeliver(2) });
    await second.getByText("HTTP 204").waitFor();
    await redeliver(2).click();
    await inDialog(page).getByText("1 delivery will be sent again within a minute.").waitFor();
    await expect.poll(() => second.getByText("HTTP 204").count(), { timeout: 100_000 }).toBe(2);
    await second.getByText("Delivered").waitFor();

    await page.route("**/redeliver?from_sequence=1", (route) =>
      route.fulfill({ json: { redelivered: 500, next_sequence: 2 } }),
    );
    await redeliver(1).click();
    await inDialog(page).getByText("501 deliveries will be sent again within a minute.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("say what the receiver answered last and which event waits longest, and list deliveries of one state", async () => {
    const { page, complaints } = await app.open("/settings/webhooks");
    status = 500;
    await createWebhook({ name: "Broken", event_types: ["run_created", "run_succeeded"] });
    await executeRun();
    await page.reload();
    await section(page).getByText("Failing", { exact: true }).waitFor();
    await section(page).getByText("Latest response: HTTP 500").waitFor();
    await section(page).getByText("Oldest undelivered event:").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await openDeliveries(page, "Broken");
    await expect.poll(() => deliveries(page).count()).toBe(2);
    await inDialog(page).getByRole("button", { name: "Delivered", exact: true }).click();
    await inDialog(page).getByText("No delivered deliveries").waitFor();
    await inDialog(page).getByRole("button", { name: "Pending", exact: true }).click();
    await expect.poll(() => deliveries(page).count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  it("list deliveries newest first, page by page, also after they were read again", async () => {
    await createWebhook({ name: "All" });
    await executeRun();
    const { page, complaints } = await app.open("/settings/webhooks");
    await page.route("**/deliveries?*", (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, "limit=2"),
      }),
    );
    await openDeliveries(page, "All");
    /** By how much the numbers of the deliveries are below the first one, to which more may be added meanwhile. */
    const differences = async () => {
      const labels = await deliveries(page).getByRole("button").allInnerTexts();
      const [first = 0, ...others] = labels.map((label) => Number(label.split(" ").at(-1)));
      return others.map((number) => first - number);
    };
    await expect.poll(differences).toEqual([1]);
    await inDialog(page).getByRole("button", { name: "Load more" }).click();
    await expect.poll(differences).toEqual([1, 2, 3]);
    await page.waitForResponse(/deliveries\?.*cursor=/);
    expect(await differences()).toEqual([1, 2, 3]);
    expect(complaints).toEqual([]);
  });

  it("are paused, resumed, changed and deleted", async () => {
    const filter = { metadata: { deploy: "yes" } };
    const uid = await createWebhook({ name: "Old", event_types: ["run_failed"], filter });
    const read = async () => (await app.api().call("GET", `/agent/webhooks/${uid}`)).body;
    const { page, complaints } = await app.open("/settings/webhooks");
    await section(page).getByText("Only runs with deploy=yes").waitFor();
    await section(page).getByRole("button", { name: "Pause Old" }).click();
    await section(page).getByText("Paused").waitFor();
    expect(await read()).toMatchObject({ enabled: false });
    await section(page).getByRole("button", { name: "Resume Old" }).click();
    await section(page).getByText("Enabled").waitFor();

    await section(page).getByRole("button", { name: "Edit Old" }).click();
    await inDialog(page).getByLabel("URL").fill(`${url}/new`);
    await inDialog(page).getByLabel(/^Name/).fill("");
    await inDialog(page).getByLabel("Format").selectOption("Message for Slack");
    await inDialog(page).getByText("The URL of an incoming webhook of Slack").waitFor();
    await inDialog(page).getByLabel("All events").check();
    await inDialog(page).getByRole("button", { name: "Save" }).click();
    await section(page).getByText("All events").waitFor();
    const { name, ...changed } = await read();
    expect(name).toBeUndefined();
    expect(changed).toMatchObject({ url: `${url}/new`, event_types: WEBHOOK_EVENT_TYPES, filter, enabled: true });
    expect(changed).toHaveProperty("format", "slack");

    await section(page)
      .getByRole("button", { name: `Delete ${url}/new` })
      .click();
    await inDialog(page).getByRole("button", { name: "Delete the webhook" }).click();
    await section(page).getByText("No webhooks").waitFor();
    expect(await listWebhooks()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("get a new signing secret, which is shown once and signs together with the previous one", async () => {
    const uid = await createWebhook({ name: "Signed", event_types: ["run_succeeded"] });
    const { page, complaints } = await app.open("/settings/webhooks");
    const opener = section(page).getByRole("button", { name: "Replace the secret of Signed" });
    await opener.click();
    await inDialog(page).getByRole("button", { name: "Replace the secret" }).click();
    const secret = await inDialog(page).locator(".secret code").innerText();
    expect(secret).toMatch(/^whsec_/);
    await inDialog(page).getByRole("button", { name: "Done" }).click();
    await expect.poll(() => opener.and(page.locator(":focus")).count()).toBe(1);
    await expect.poll(() => page.getByText(secret).count()).toBe(0);
    await section(page).getByText("The previous secret signs as well until").waitFor();
    received.length = 0;
    await executeRun();
    await expect.poll(() => received.length).toBe(1);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    expect(await verifyWebhook(secret, headers, body)).toMatchObject({ data: { webhook_uid: uid } });
    expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(2);
    expect(complaints).toEqual([]);
  });

  it("are filtered by the runs that a form describes, with refusals at their fields", async () => {
    const filter = { environment_id: "0199a3c4-0000-7000-8000-00000000dead", model_id: "local/runbook" };
    const uid = await createWebhook({ name: "Filtered", filter });
    const read = async () => (await app.api().call("GET", `/agent/webhooks/${uid}`)).body.filter;
    const { page, complaints } = await app.open("/settings/webhooks");
    const edit = () => section(page).getByRole("button", { name: "Edit Filtered" }).click();
    const save = () => inDialog(page).getByRole("button", { name: "Save" }).click();
    const field = (label: string) => inDialog(page).getByLabel(label, { exact: true });
    await edit();
    // A deleted environment and members without a field are kept.
    await expect.poll(() => field("Environment").inputValue()).toBe(filter.environment_id);
    await inDialog(page).getByText('{"model_id":"local/runbook"}').waitFor();
    await field("Source").selectOption("API");
    await inDialog(page).getByLabel("Configuration name").fill("x".repeat(1_025));
    await inDialog(page).getByLabel("Metadata").fill("deploy");
    await save();
    await inDialog(page).getByText("Write name=value instead of deploy.").waitFor();
    expect(await read()).toEqual(filter);
    await inDialog(page).getByLabel("Metadata").fill("a b=c");
    await save();
    const invalid = inDialog(page).locator("[aria-invalid=true]");
    await expect.poll(() => invalid.count()).toBe(2);
    await expect
      .poll(() => inDialog(page).locator(".field-error").allInnerTexts())
      .toEqual([
        "must have at most 1024 bytes",
        "must have keys of 1 to 64 of the characters a-z A-Z 0-9 . _ -, except constructor, prototype and __proto__",
      ]);
    await expect.poll(() => inDialog(page).getByLabel(/^Name/).getAttribute("aria-invalid")).toBeNull();
    await inDialog(page).getByLabel("Configuration name").fill("nightly");
    await inDialog(page).getByLabel("Metadata").fill("deploy=yes\nstage=a=b");
    await save();
    await inDialog(page).waitFor({ state: "detached" });
    const changed = { ...filter, source: "API", name: "nightly", metadata: { deploy: "yes", stage: "a=b" } };
    expect(await read()).toEqual(changed);

    await edit();
    await field("Environment").selectOption("");
    await field("Source").selectOption("");
    await inDialog(page).getByLabel("Configuration name").fill("");
    await inDialog(page).getByLabel("Metadata").fill("");
    await save();
    await inDialog(page).waitFor({ state: "detached" });
    expect(await read()).toEqual({ model_id: "local/runbook" });
    expect(complaints).toEqual([]);
  });

  it("offer every type of event, and none of it without a choice", async () => {
    const { page } = await app.open("/settings/webhooks");
    await section(page).getByRole("button", { name: "New webhook" }).click();
    await inDialog(page).getByLabel("URL").fill(url);
    await expect
      .poll(() => inDialog(page).getByRole("checkbox", { checked: true }).count())
      .toBe(WEBHOOK_EVENT_TYPES.length + 1);
    await inDialog(page).getByLabel("All events").uncheck();
    await expect.poll(() => inDialog(page).getByRole("checkbox", { checked: true }).count()).toBe(0);
    await expect.poll(() => inDialog(page).getByRole("button", { name: "Create the webhook" }).isDisabled()).toBe(true);
  });

  it("show why they are refused where the deployment sends none", async () => {
    const { page, complaints } = await app.open("/settings/webhooks");
    await page.route("**/agent/webhooks", (route) =>
      route.request().method() === "POST" ? route.fulfill(NOT_SUPPORTED) : route.continue(),
    );
    await section(page).getByRole("button", { name: "New webhook" }).click();
    await inDialog(page).getByLabel("URL").fill(url);
    await page.keyboard.press("Enter");
    const alert = inDialog(page).getByRole("alert");
    await alert.waitFor();
    await expect.poll(() => alert.innerText()).toContain("here. This deployment does not send events of its runs");
    expect(complaints).toEqual([]);
  });

  it("have dialogs without violations that axe finds, which fit a window of 320 pixels", async () => {
    await createWebhook({ name: "Failing", url: "http://127.0.0.1:1/", event_types: ["run_created"] });
    await executeRun();
    const { page, complaints } = await app.open("/settings/webhooks");
    // A dialog that appears slowly is invisible at first, and no modal one for axe.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await section(page).getByText("Failing").first().waitFor();
    for (const opener of [
      "New webhook",
      "Deliveries of Failing",
      "Edit Failing",
      "Replace the secret of Failing",
      "Delete Failing",
    ]) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await section(page).getByRole("button", { name: opener }).click();
      await inDialog(page).waitFor();
      await expect.poll(() => inDialog(page).locator(".skeleton-rows").count()).toBe(0);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findViolations(page), `${opener} in ${colorScheme}`).toEqual([]);
      }
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await pageWidth(page), opener).toBeLessThanOrEqual(320);
      await page.keyboard.press("Escape");
      await inDialog(page).waitFor({ state: "detached" });
    }
    expect(complaints).toEqual([]);
  });

  it("belong to the team in whose settings they are, and are shown to its admins only", async () => {
    const { call } = app.api();
    const { body: team } = await call("POST", "/agent/teams", { name: "Second team" });
    const [{ uid: first }] = (await call("GET", "/agent/me")).body.teams;
    const { page, complaints } = await app.open("/settings/webhooks");
    await section(page).nth(1).getByRole("button", { name: "New webhook" }).click();
    await inDialog(page).getByLabel("URL").fill(url);
    await page.keyboard.press("Enter");
    await inDialog(page).getByRole("button", { name: "Done" }).click();
    await section(page).nth(1).getByText(url).waitFor();
    await section(page).nth(0).getByText("No webhooks").waitFor();
    expect(await listWebhooks()).toMatchObject([{ url, scope: { uid: team.uid } }]);
    const { link } = (
      await call("POST", `/agent/teams/${first}/invitations`, { email: "eve@example.com", role: "member" })
    ).body;
    const token = new URL(link).pathname.split("/").at(-1);
    const { key } = (await call("POST", `/agent/invitations/${token}/accept`, undefined, { authorization: "" })).body;
    const member = await app.open("/settings/webhooks", { key });
    await member.page.getByRole("region", { name: "Sessions" }).waitFor();
    await expect.poll(() => section(member.page).count()).toBe(0);
    expect((await call("DELETE", `/agent/teams/${team.uid}`)).status).toBe(204);
    expect(complaints).toEqual([]);
  });
});

const NOT_SUPPORTED = {
  status: 422,
  contentType: "application/problem+json",
  json: {
    title: "This operation is not supported here",
    detail: "this deployment does not send events of its runs",
    status: 422,
    error_code: "operation_not_supported",
    trace_id: "trace-1",
  },
};
