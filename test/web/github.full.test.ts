import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { findViolations } from "./support/axe.ts";
import { pageWidth, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

const STATE = "0f0f0f0f-0000-4000-8000-000000000000";
const RETURN = `code=a1b2c3&installation_id=2000001&setup_action=install&state=${STATE}`;

let team: { readonly uid: string; readonly name: string };
/** The bodies of the claims that pages sent. */
let sent: unknown[];
beforeEach(async () => {
  [team] = (await app.api().call("GET", "/agent/me")).body.teams;
  sent = [];
});

const installation = () => ({
  installation_id: 2_000_001,
  account: { id: 7, login: "acme", type: "Organization" },
  repository_selection: "selected",
  scope: { type: "Team", uid: team.uid },
  claimed_by: { type: "user", uid: "ada" },
  claimed_at: "2026-05-18T19:00:00.000Z",
});

const problem = (status: number, error_code: string, detail: string) => ({
  status,
  contentType: "application/problem+json",
  json: { title: "Refused", detail, status, error_code, trace_id: "trace-1" },
});

/** Replaces the App's operations, and the pages of GitHub, which return to the app with this query. */
async function replaceGithub(page: Page, query: string, refusal?: ReturnType<typeof problem>): Promise<void> {
  const { origin } = new URL(page.url());
  await page.route("https://github.test/**", (route) =>
    route.fulfill({ status: 302, headers: { location: `${origin}/github?${query}` } }),
  );
  await page.route("**/agent/github/claims", (route) =>
    route.fulfill({
      status: 201,
      json: {
        install_url: `https://github.test/apps/runyard/installations/new?state=${STATE}`,
        authorize_url: `https://github.test/login/oauth/authorize?client_id=Iv23li&state=${STATE}`,
        expires_at: "2099-01-01T00:00:00.000Z",
      },
    }),
  );
  let claimed = false;
  await page.route("**/agent/github/installations*", (route) => {
    if (route.request().method() !== "POST") {
      return route.fulfill({ json: { installations: claimed ? [installation()] : [] } });
    }
    sent.push(route.request().postDataJSON());
    if (refusal !== undefined) return route.fulfill(refusal);
    claimed = true;
    return route.fulfill({ status: 201, json: installation() });
  });
}

const CLAIM = { installation_id: 2_000_001, state: STATE, code: "a1b2c3" };
const belongs = (page: Page) => page.getByText(`The installation on acme belongs to the team ${team.name}`);

describe("the page that GitHub redirects to", () => {
  it("claims an installation that was begun in the settings, where it is listed and released", async () => {
    const { page, complaints } = await app.open("/settings/github");
    await replaceGithub(page, RETURN);
    await page.reload();
    await page.getByText("No installations").waitFor();
    await page.getByRole("button", { name: "Install on GitHub" }).click();
    await belongs(page).waitFor();
    expect(sent).toEqual([CLAIM]);
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.getByRole("link", { name: "Installations of your teams" }).click();
    await page.getByText("Selected repositories").waitFor();
    expect(await findViolations(page)).toEqual([]);
    let released = "";
    await page.route("**/agent/github/installations/*", (route) => {
      released = new URL(route.request().url()).pathname;
      return route.fulfill({ status: 204 });
    });
    await page.getByRole("button", { name: "Release acme" }).click();
    await page.getByRole("button", { name: "Release the installation" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(released).toContain("/agent/github/installations/2000001");
    expect(complaints).toEqual([]);
  });

  it("claims an installation that exists by its id, which GitHub does not return", async () => {
    const { page, complaints } = await app.open("/github");
    await replaceGithub(page, `code=1234567&state=${STATE}`);
    await page.getByLabel("Installation", { exact: true }).fill("acme");
    await page.getByRole("button", { name: "Continue on GitHub" }).click();
    await page.locator(".field-error").waitFor();
    await page.getByLabel("Installation", { exact: true }).fill("2000001");
    await page.getByRole("button", { name: "Continue on GitHub" }).click();
    await belongs(page).waitFor();
    expect(sent).toEqual([{ ...CLAIM, code: "1234567" }]);
    expect(complaints).toEqual([]);
  });

  it("claims nothing without a click if the tab has not begun the claim", async () => {
    const { page } = await app.open("/icon.svg");
    await replaceGithub(page, RETURN);
    await page.goto(new URL(`/github?${RETURN}`, page.url()).href);
    const claim = page.getByRole("button", { name: "Claim the installation" });
    await claim.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
    expect(sent).toEqual([]);
    await claim.click();
    await belongs(page).waitFor();
    expect(sent).toEqual([CLAIM]);
  });

  it.each([
    ["who does not own the account", problem(403, "not_authorized", "GitHub does not show that you own the account")],
    ["whose installation a team has", problem(409, "conflict", "a team of this deployment has claimed it")],
  ])("shows why a claim is refused to a person %s, and begins another one", async (_, refusal) => {
    const { page } = await app.open("/settings/github");
    await replaceGithub(page, RETURN, refusal);
    await page.getByRole("button", { name: "Install on GitHub" }).click();
    await page.getByRole("alert").getByText(refusal.json.detail).waitFor();
    await page.getByRole("link", { name: "Begin another claim" }).click();
    await expect.poll(() => page.getByLabel("Installation", { exact: true }).inputValue()).toBe("2000001");
    await page.getByRole("button", { name: "Continue on GitHub" }).waitFor();
    expect(sent).toEqual([CLAIM]);
  });

  it("says what GitHub refused, and that an owner must approve a request", async () => {
    const { page } = await app.open("/github?error=access_denied&error_description=Not+%3Cb%3Eyou");
    await page.getByText("GitHub refused: Not <b>you").waitFor();
    await page.goto(new URL(`/github?setup_action=request&code=c&state=${STATE}`, page.url()).href);
    await page.getByText("An owner of the organization must approve the installation").waitFor();
  });

  it("says who may claim an installation to a person who is no admin", async () => {
    const { call } = app.api();
    const invited = { email: "eve@example.com", role: "member" };
    const { link } = (await call("POST", `/agent/teams/${team.uid}/invitations`, invited)).body;
    const token = new URL(link).pathname.split("/").at(-1);
    const { key } = (await call("POST", `/agent/invitations/${token}/accept`, undefined, { authorization: "" })).body;
    const { page } = await app.open(`/github?${RETURN}`, { key });
    await page.getByText("Only admins of a team can claim installations").waitFor();
  });
});
