import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Repository } from "../harness/support/repository.ts";
import { findViolations } from "./support/axe.ts";
import { pageWidth, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

let repository: Repository;
beforeAll(() => {
  repository = new Repository("shop", { "README.md": "The shop.\n" });
  repository.git("branch", "release");
});
afterAll(() => repository[Symbol.dispose]());

const dialog = (page: Page) => page.getByRole("dialog");
const secrets = (page: Page) => page.getByRole("region", { name: "Secrets" });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const listEnvironments = async () => (await app.api().call("GET", "/agent/environments")).body.environments;
const listSecrets = async () => (await app.api().call("GET", "/agent/secrets")).body.secrets;

/** Creates an account, and returns its key and uid. */
async function join(email: string): Promise<{ key: string; uid: string }> {
  const { call } = app.api();
  const [team] = (await call("GET", "/agent/me")).body.teams;
  const invitation = await call("POST", `/agent/teams/${team.uid}/invitations`, { email, role: "member" });
  const token = new URL(invitation.body.link).pathname.split("/").at(-1);
  const { key } = (await call("POST", `/agent/invitations/${token}/accept`, undefined, { authorization: "" })).body;
  return { key, uid: (await app.api(key).call("GET", "/agent/me")).body.uid };
}

async function tryOut(page: Page, state: string): Promise<void> {
  await button(page, "Try it").click();
  await page.waitForURL(/\/runs\//);
  await page.getByRole("status").getByText(state, { exact: true }).waitFor();
  await page.goBack();
}

describe("environments in the web app", () => {
  it("are created with a secret, tried, changed, used in a run and deleted", async () => {
    const { page, complaints } = await app.open("/environments");
    await page.getByText("No environments yet").waitFor();
    await secrets(page).getByText("No secrets").waitFor();
    await button(page, "New secret").click();
    await dialog(page).getByLabel("Name").fill("SHOP_TOKEN");
    await dialog(page).getByLabel("Value").fill("first-value");
    await button(page, "Create the secret").click();
    await secrets(page).getByText("SHOP_TOKEN").waitFor();

    await button(page, "New environment").first().press("Enter");
    await dialog(page).getByLabel("Name", { exact: true }).fill("Shop");
    await button(page, "Add a repository").press("Enter");
    // The focus is in the row that was added.
    await page.keyboard.type("ftp://shop");
    await button(page, "Add a repository").click();
    await button(page, "Add a command").press("Enter");
    await page.keyboard.type('test "$SHOP_TOKEN" = second-value');
    await dialog(page)
      .getByLabel(/^Secrets/)
      .fill("SHOP_TOKEN\nSHOP KEY");
    await button(page, "Create the environment").click();
    await expect.poll(() => dialog(page).locator("[aria-invalid=true]").count()).toBe(2);
    await dialog(page)
      .locator(".field-error", { hasText: /^SHOP KEY must have/ })
      .waitFor();
    expect(await listEnvironments()).toEqual([]);
    // Rows in which nothing was written are left out.
    expect(
      await dialog(page)
        .getByLabel(/^Repository/)
        .count(),
    ).toBe(1);
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await findViolations(page)).toEqual([]);
    await dialog(page).getByLabel("Repository 1", { exact: true }).fill(repository.url);
    await dialog(page).getByLabel("Branch, tag or commit").fill("release");
    await dialog(page)
      .getByLabel(/^Secrets/)
      .fill("SHOP_TOKEN");
    await button(page, "Create the environment").click();
    await page.getByRole("heading", { name: "Shop", level: 1 }).waitFor();
    await page.getByText("Not used yet").waitFor();
    const [{ uid, config }] = await listEnvironments();
    expect(config).toMatchObject({
      repositories: [{ url: repository.url, ref: "release" }],
      setup_commands: ['test "$SHOP_TOKEN" = second-value'],
      secrets: [{ name: "SHOP_TOKEN" }],
    });

    await tryOut(page, "Failed");
    await page.getByText("Setup failed", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Environments", exact: true }).first().click();
    await page.getByText("Setup failed", { exact: true }).waitFor();
    await button(page, "New secret").click();
    await dialog(page).getByLabel("Name").fill("SHOP_TOKEN");
    await dialog(page).getByLabel("Value").fill("second-value");
    await button(page, "Create the secret").click();
    await dialog(page).getByRole("heading", { name: "Replace SHOP_TOKEN?" }).waitFor();
    await button(page, "Replace the secret").click();
    await dialog(page).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Shop", exact: true }).click();
    await tryOut(page, "Succeeded");
    await page.getByText("Set up", { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 900 });

    await button(page, "Edit").click();
    await dialog(page).getByLabel("Name", { exact: true }).fill("Shop and stock");
    await dialog(page).getByLabel("Branch, tag or commit").fill("");
    await button(page, "Remove command 1").click();
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "Shop and stock", level: 1 }).waitFor();
    const [changed] = await listEnvironments();
    expect(changed.config.repositories).toEqual([{ url: repository.url }]);
    expect(changed.config.setup_commands).toEqual([]);

    await page.getByRole("link", { name: "Use in a new run" }).click();
    await page.getByRole("option", { name: "Shop and stock" }).waitFor({ state: "attached" });
    await expect.poll(() => page.getByLabel("Environment", { exact: true }).inputValue()).toBe(uid);
    await page.goBack();
    await button(page, "Delete").click();
    await button(page, "Delete the environment").click();
    await page.getByText("No environments yet").waitFor();
    expect(await listEnvironments()).toEqual([]);
    await button(page, "Delete SHOP_TOKEN").click();
    await button(page, "Delete the secret").click();
    await secrets(page).getByText("No secrets").waitFor();
    expect(await listSecrets()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("are shared by a link that is shown once, and with a person, who may use them and not change them", async () => {
    const guest = await join("grace@example.com");
    const request = { name: "Mine", team: false, description: "Reversed \u202E text" };
    const { uid } = (await app.api().call("POST", "/agent/environments", request)).body;
    const isVisible = async (query = "") =>
      (await app.api(guest.key).call("GET", `/agent/environments/${uid}${query}`)).status === 200;
    const { page, complaints } = await app.open(`/environments/${uid}`);
    await page.getByText("Reversed [U+202E] text").waitFor();
    await button(page, "New link").click();
    await button(page, "Create the link").click();
    const link = await dialog(page).locator(".secret code").innerText();
    await button(page, "Done").click();
    await expect.poll(() => page.getByText(link).count()).toBe(0);
    expect(await isVisible(new URL(link).search)).toBe(true);
    await button(page, "Revoke the link").click();
    await dialog(page).getByRole("button", { name: "Revoke the link" }).click();
    await page.getByText("No link opens it.").waitFor();
    expect(await isVisible(new URL(link).search)).toBe(false);

    await page.getByLabel("Person").selectOption(guest.uid);
    await button(page, "Share").click();
    await page.getByText(/^Shared with/).waitFor();
    expect(await isVisible()).toBe(true);
    const other = await app.open(`/environments/${uid}`, { key: guest.key });
    await other.page.getByText("You, because it was shared with you").waitFor();
    await button(other.page, "Try it").waitFor();
    await expect.poll(() => button(other.page, "Edit").count()).toBe(0);
    await button(page, "Stop sharing").click();
    await page.getByText(/^Not shared with/).waitFor();
    expect(await isVisible()).toBe(false);
    expect([...complaints, ...other.complaints]).toEqual([]);
  });

  it("have variables and the domains that commands may call, and keep both in a change of something else", async () => {
    const { page, complaints } = await app.open("/environments");
    await button(page, "New environment").first().click();
    await dialog(page).getByLabel("Name", { exact: true }).fill("Fenced");
    await dialog(page)
      .getByLabel(/^Variables/)
      .fill("NODE_ENV=test\nURL=https://a.example/?b=c");
    await dialog(page).getByLabel("Network").selectOption("allowlist");
    await dialog(page).getByLabel("Domains").fill("http://pypi.org");
    await button(page, "Create the environment").click();
    await dialog(page).locator(".field-error", { hasText: "must be a domain" }).waitFor();
    await dialog(page).getByLabel("Domains").fill("packages\n*.example.com");
    await button(page, "Create the environment").click();
    await page.getByRole("heading", { name: "Fenced" }).waitFor();
    await page.getByText("packages, *.example.com").waitFor();
    await button(page, "Edit").click();
    await dialog(page)
      .getByLabel(/^Description/)
      .fill("Behind a fence");
    await button(page, "Save").click();
    await dialog(page).waitFor({ state: "detached" });
    const { environments } = (await app.api().call("GET", "/agent/environments")).body;
    const fenced = environments.find(({ config }: { config: { name: string } }) => config.name === "Fenced");
    expect(fenced.config).toMatchObject({
      description: "Behind a fence",
      variables: { NODE_ENV: "test", URL: "https://a.example/?b=c" },
      network: { mode: "allowlist", domains: ["packages", "*.example.com"] },
    });
    expect((await app.api().call("DELETE", `/agent/environments/${fenced.uid}`)).status).toBe(204);
    expect(complaints).toEqual([]);
  });
});

describe("secrets in the web app", () => {
  it("are refused at their fields, and a value that is too long replaces none", async () => {
    await app.api().call("POST", "/agent/secrets", { name: "NPM_TOKEN", value: "first-value" });
    const read = async () => (await app.api().call("GET", "/agent/secrets/NPM_TOKEN")).body;
    const before = await read();
    const { page, complaints } = await app.open("/environments");
    await button(page, "New secret").click();
    await dialog(page).getByLabel("Name").fill("PATH");
    await dialog(page).getByLabel("Value").fill("/tmp");
    await page.getByRole("button", { name: "Create the secret" }).click();
    await dialog(page).locator(".field-error", { hasText: "PATH is a reserved variable" }).waitFor();
    await page.keyboard.press("Escape");
    await button(page, "Replace NPM_TOKEN").click();
    await dialog(page).getByLabel("Value").fill("é".repeat(2_049));
    await dialog(page).getByText("must have at most 4096 bytes").waitFor();
    await button(page, "Replace the secret").click();
    expect(await read()).toEqual(before);
    await dialog(page).getByLabel("Value").fill("second-value");
    await page.route("**/agent/secrets", (route) =>
      route.request().method() === "POST" ? route.fulfill({ status: 422, json: {} }) : route.continue(),
    );
    await button(page, "Replace the secret").click();
    // The value stays in the form, so that it can be sent again.
    await dialog(page).getByText("The former value is deleted already. Try again.").waitFor();
    await page.unroute("**/agent/secrets");
    await button(page, "Replace the secret").click();
    await dialog(page).waitFor({ state: "detached" });
    expect((await read()).created_at).not.toBe(before.created_at);
    expect(complaints).toEqual([]);
  });

  it("are not offered to members, who may only name them", async () => {
    const { key } = await join("eve@example.com");
    const { page, complaints } = await app.open("/environments", { key });
    await secrets(page).getByText("Admins of a team set its secrets.").waitFor();
    await expect.poll(() => button(page, "New secret").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
