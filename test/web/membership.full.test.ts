import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { blockStorage } from "./support/browser.ts";
import { useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** Invites a person to the first team, and returns the path of the invitation. */
async function invite(email: string, role: "admin" | "member"): Promise<string> {
  const { call } = app.api();
  const [team] = (await call("GET", "/agent/me")).body.teams;
  const { body } = await call("POST", `/agent/teams/${team.uid}/invitations`, { email, role });
  return new URL(body.link).pathname;
}

/** Creates the account of a person who was invited, and returns its key. */
async function join(email: string, role: "admin" | "member"): Promise<string> {
  const token = (await invite(email, role)).split("/").at(-1);
  return (await app.api().call("POST", `/agent/invitations/${token}/accept`, undefined, { authorization: "" })).body
    .key;
}

const chooseTeam = (page: Page, uid: string) => page.evaluate(`localStorage.setItem("runyard.team", "${uid}")`);
const readTeam = (page: Page) => page.evaluate("localStorage.getItem('runyard.team')");

describe("a membership in the web app", () => {
  it("locks nobody out after it has ended in another browser", async () => {
    const { page, complaints } = await app.open("/runs");
    await chooseTeam(page, "0199a0c4-0000-7000-8000-000000000001");
    await page.reload();
    await page.getByText("No runs yet").waitFor();
    expect(await readTeam(page)).toBeNull();
    expect(complaints).toEqual([]);
  });

  it("is shown as it is after the person gives up the role of an admin, and leaves", async () => {
    const key = await join("ada@example.com", "admin");
    const { page, complaints } = await app.open("/settings/team", { key });
    const [team] = (await app.api(key).call("GET", "/agent/me")).body.teams;
    await chooseTeam(page, team.uid);
    await page.getByLabel("Role of ada@example.com").selectOption("member");
    await page.getByRole("heading", { name: "Team and limits" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.locator("section[aria-label=Members]").waitFor({ state: "detached" });
    await expect.poll(() => readTeam(page)).toBeNull();
    expect(complaints).toEqual([]);
  });

  it("of a person who is signed in starts at once", async () => {
    const key = await join("eve@example.com", "member");
    const { page, complaints } = await app.open("/runs", { key });
    const { body: team } = await app.api().call("POST", "/agent/teams", { name: "Second team" });
    const { body } = await app.api().call("POST", `/agent/teams/${team.uid}/invitations`, {
      email: "eve@example.com",
      role: "member",
    });
    await page.evaluate(`history.pushState({}, "", "${new URL(body.link).pathname}")`);
    const accept = page.getByRole("button", { name: "Accept the invitation" });
    // An app that has just started may not follow the address yet.
    const follow = () => page.evaluate(`dispatchEvent(new PopStateEvent("popstate"))`);
    await expect.poll(() => follow().then(() => accept.count())).toBe(1);
    await accept.click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByText("Second team").waitFor();
    expect((await app.api().call("DELETE", `/agent/teams/${team.uid}`)).status).toBe(204);
    expect(complaints).toEqual([]);
  });

  it("is not exchanged for another person's by a sign-in link without asking", async () => {
    const { page, complaints } = await app.open("/runs", { key: await join("kim@example.com", "member") });
    const { body: link } = await app.api().call("POST", "/session/link");
    await page.goto(link.url);
    await page.getByText("You are signed in as kim@example.com").waitFor();
    await page.getByRole("link", { name: "Stay in your account" }).click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goto(link.url);
    await page.getByRole("button", { name: "Sign in with the link" }).click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goto(link.url);
    await page.getByText(/You are signed in as (?!kim)/).waitFor();
    expect(complaints).toEqual([]);
  });

  it("starts with a key, which is shown also if the sign-in with it fails", async () => {
    const { page } = await app.openSignedOut(await invite("bob@example.com", "member"));
    await page.route("**/api/v1/session", (route) =>
      route.request().method() === "POST" ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await page.getByText("The service failed").waitFor();
    const key = await page.locator(".secret code").innerText();
    expect((await app.api(key).call("GET", "/agent/me")).status).toBe(200);
  });

  it("starts in a browser that blocks storage, where the response to the first request is lost", async () => {
    const invitation = await invite("linus@example.com", "member");
    const { page, complaints } = await app.openSignedOut("/sign-in");
    await blockStorage(page);
    let isLost = true;
    await page.route("**/accept", async (route) => {
      if (!isLost) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.goto(new URL(invitation, page.url()).href);
    const accept = page.getByRole("button", { name: "Accept the invitation" });
    await accept.click();
    await page.getByText("cannot be reached").waitFor();
    isLost = false;
    await accept.click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("of the team that another tab has chosen is shown", async () => {
    const { page, complaints } = await app.open("/runs");
    await page.getByText("No runs yet").waitFor();
    const [team] = (await app.api().call("GET", "/agent/me")).body.teams;
    const tab = await page.context().newPage();
    await tab.goto(new URL("/icon.svg", page.url()).href);
    const isList = (url: string) => /agent\/runs\?(?!.*updated_after)/.test(url);
    const read = page.waitForRequest((one) => isList(one.url()) && one.headers()["x-team-uid"] === team.uid);
    await chooseTeam(tab, team.uid);
    await read;
    expect(complaints).toEqual([]);
  });

  it("remains signed in, and says so, where the service refuses the sign-out", async () => {
    const { page, complaints } = await app.open("/runs");
    await page.route("**/api/v1/session", (route) =>
      route.request().method() === "DELETE" ? route.fulfill({ status: 422 }) : route.continue(),
    );
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("dialog", { name: "You are still signed in" }).getByRole("alert").waitFor();
    await page.unroute("**/api/v1/session");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("lets an admin change one limit, and refuses what is no number", async () => {
    const { page, complaints } = await app.open("/settings/team");
    const field = page.getByLabel("Runs that wait");
    const bodies: unknown[] = [];
    page.on("request", (request) => request.method() === "PUT" && bodies.push(request.postDataJSON()));
    await field.fill("40 runs");
    await page.keyboard.press("Enter");
    await page.getByText("Write a plain number").waitFor();
    await field.fill("40");
    await page.keyboard.press("Enter");
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(bodies).toEqual([{ settings: { queue_limit: 40 } }]);
    await expect.poll(() => field.inputValue()).toBe("40");
    expect(complaints).toEqual([]);
  });

  it("lets an admin find events of the audit log by their action, and hides the log from members", async () => {
    await app.api().call("POST", "/agent/keys", { name: "audited" });
    const schedule = { name: "Audited nightly", cron_schedule: "0 3 * * *", prompt: "Go.", team: true };
    await app.api().call("POST", "/agent/schedules", schedule);
    const { page, complaints } = await app.open("/settings");
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
    const rows = page.getByRole("region", { name: /^Audit log of/ }).getByRole("listitem");
    await rows.filter({ hasText: "keys.create" }).filter({ hasText: "audited" }).waitFor();
    await page.getByLabel(/^Action/).fill("schedules");
    await page.keyboard.press("Enter");
    const created = rows.filter({ hasText: "schedules.create" });
    expect(await created.getByRole("link", { name: "Audited nightly" }).getAttribute("href")).toMatch(/^\/schedules\//);
    expect(await created.innerText(), "names instead of ids").not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    await page.getByLabel(/^Action/).fill("invitations");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "keys.create" }).first().waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
    const member = await app.open("/settings/audit", { key: await join("grace@example.com", "member") });
    await member.page.getByRole("heading", { name: "Settings" }).waitFor();
    expect(await member.page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  });
});
