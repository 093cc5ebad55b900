import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

describe("the web app", () => {
  it("signs in with a link once, and with a key", async () => {
    const headers = { authorization: `Bearer ${app.key}` };
    const response = await fetch(`${app.baseUrl}/session/link`, { method: "POST", headers });
    const { url } = v.parse(v.object({ url: v.string() }), await response.json());
    const link = `${new URL(url).pathname}${new URL(url).search}`;
    const first = await app.openSignedOut(link);
    await first.page.getByText("No runs yet").waitFor();
    expect(first.page.url()).not.toContain("token");
    const second = await app.openSignedOut(link);
    await second.page.getByText("This link was used already").waitFor();
    await second.page.getByLabel("API key").fill("ryp_wrong");
    await second.page.keyboard.press("Enter");
    await second.page.getByText("This key is not valid").waitFor();
    await second.page.getByLabel("API key").fill(app.key);
    await second.page.keyboard.press("Enter");
    await second.page.getByText("No runs yet").waitFor();
    const tab = await second.page.context().newPage();
    await tab.goto(second.page.url());
    await tab.getByText("No runs yet").waitFor();
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });

  it("returns to the requested page after the sign-in", async () => {
    const { page, complaints } = await app.openSignedOut("/runs");
    await page.getByLabel("API key").fill(app.key);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();
    expect(new URL(page.url()).pathname).toBe("/runs");
    expect(complaints).toEqual([]);
  });

  it("signs out in every browser", async () => {
    const { page } = await app.open("/settings");
    const other = await app.open("/runs");
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
    await other.page.reload();
    await other.page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
  });

  it("creates a key that programs can use until it is revoked", async () => {
    const { page, complaints } = await app.open("/settings/keys");
    const create = page.getByRole("button", { name: "New key" });
    await create.click();
    await page.getByLabel("Name", { exact: true }).last().fill("laptop");
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.locator(".secret code").innerText();
    expect((await app.api(key).call("GET", "/agent/me")).status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await expect.poll(() => create.and(page.locator(":focus")).count()).toBe(1);
    await page.getByRole("button", { name: "Revoke laptop" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.locator(".item-title", { hasText: /^laptop$/ }).waitFor({ state: "detached" });
    expect((await app.api(key).call("GET", "/agent/me")).status).toBe(401);
    expect(complaints).toEqual([]);
  });

  it("creates a key with selected scopes and limits, and shows them", async () => {
    const { page, complaints } = await app.open("/settings/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog", { name: "New API key" });
    await dialog.getByLabel("Name", { exact: true }).fill("reader");
    await dialog.getByLabel("Scopes", { exact: true }).selectOption("Selected ones");
    await dialog.getByLabel("runs:write").uncheck();
    await dialog.getByLabel(/^Cost of its runs/).fill("12,5");
    await dialog.getByLabel(/^Runs in a day/).fill("3");
    await dialog.getByRole("button", { name: "Create the key" }).click();
    const key = await page.locator(".secret code").innerText();
    expect((await app.api(key).call("GET", "/agent/runs")).status).toBe(200);
    expect((await app.api(key).call("POST", "/agent/runs", { prompt: "hello" })).status).toBe(403);
    await page.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "reader" });
    for (const text of ["runs:read", "$12.50 a month", "3 runs a day"]) await row.getByText(text).waitFor();
    expect(complaints).toEqual([]);
  });

  it("starts a run, shows its output, and continues it with a follow-up", async () => {
    const { page, complaints } = await app.open("/runs/new");
    const prompt = commands("printf '\\033[31mred\\033[0m\\n'; for i in $(seq 40); do echo line $i; done");
    await page.getByLabel("Prompt", { exact: true }).fill(`Print lines.\n\n${prompt}`);
    await page.getByLabel("Model", { exact: true }).selectOption("local/runbook");
    await page.getByLabel(/^Title/).fill("Print lines");
    await page.getByRole("tab", { name: "CLI" }).click();
    await page.getByText("runyard run 'Print lines.").waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByRole("heading", { name: "Print lines", level: 1 }).waitFor();
    await page.getByRole("status").getByText("Succeeded").waitFor();
    await expect.poll(() => page.locator(".terminal .fg-red").innerText()).toBe("red");
    await page.getByRole("button", { name: "Show all 41 lines" }).click();
    await page.getByText("line 40").waitFor();
    const more = page.getByLabel("Continue with a follow-up");
    await more.fill(commands("echo second"));
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".terminal", { hasText: "second" }).waitFor();
    await page.getByRole("status").getByText("Succeeded").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Transcript" }).click();
    expect((await download).suggestedFilename()).toContain(".jsonl");
    expect(complaints).toEqual([]);
  });

  it("shows the output of a command while it is running and after the run was cancelled", async () => {
    const { page } = await app.open("/runs");
    const run = await app.api().create(commands("echo started; sleep 600"), { title: "Wait", ...RUNBOOK });
    await page.getByRole("link", { name: "Wait" }).click();
    await page.locator(".terminal", { hasText: "started" }).waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByRole("status").getByText("Cancelled").waitFor();
    await page.locator(".terminal", { hasText: "started" }).waitFor();
    expect(await app.api().ended(run)).toMatchObject({ state: "CANCELLED" });
  });

  it("cancels a run by force, and starts it again with the same prompt", async () => {
    const { page, complaints } = await app.open("/runs");
    const run = await app.api().create(commands("echo started; sleep 600"), { title: "Hang", ...RUNBOOK });
    await page.getByRole("link", { name: "Hang" }).click();
    await page.locator(".terminal", { hasText: "started" }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Force cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Force cancel" }).click();
    await page.getByRole("status").getByText("Cancelled").waitFor();
    expect(await app.api().ended(run)).toMatchObject({ state: "CANCELLED" });
    await page.getByRole("button", { name: "Run again" }).click();
    const prompt = page.getByLabel("Prompt", { exact: true });
    await expect.poll(() => prompt.inputValue()).toBe(commands("echo started; sleep 600"));
    expect(complaints).toEqual([]);
  });

  it("answers the question of an agent, and shows its changes of files", async () => {
    const edit = { path: "answer.ts", action: "write", new_text: "export const answer = 42;\n" };
    app.model.turns.push(
      { tools: [{ name: "ask_user", input: { question: "Which **number**?" } }] },
      { text: "I write it down.", tools: [{ name: "edit_files", input: { edits: [edit] } }] },
      { text: "The number is *written*." },
    );
    const run = await app.api().create("Write the number.", { title: "Write the number" });
    const { page, complaints } = await app.open(`/runs/${run}`);
    await page.getByRole("region", { name: "Question" }).getByText("number", { exact: true }).waitFor();
    await page.getByLabel("Answer the question").fill("42");
    await page.getByRole("button", { name: "Answer" }).click();
    await page.locator(".diff-add", { hasText: "export const answer = 42;" }).waitFor();
    await page.locator(".conversation em", { hasText: "written" }).waitFor();
    await page.getByRole("status").getByText("Succeeded").waitFor();
    await page.getByRole("complementary").getByText("< $0.01").first().waitFor();
    expect(complaints).toEqual([]);
  });

  it("creates a schedule, changes it, runs it now, pauses and deletes it", async () => {
    const { page, complaints } = await app.open("/schedules");
    await page.getByRole("link", { name: "New schedule" }).first().click();
    await page.getByLabel("Prompt", { exact: true }).fill(commands("echo nightly"));
    await page.getByLabel("Model", { exact: true }).selectOption("local/runbook");
    await page.getByLabel("Name of the schedule").fill("Nightly");
    await page.getByLabel("Cron expression", { exact: true }).fill("30 2 * * 1-5");
    await page.getByText("At 02:30, Monday through Friday").waitFor();
    await page.getByRole("button", { name: "Create the schedule" }).click();
    await page.getByRole("heading", { name: "Nightly", level: 1 }).waitFor();
    const times = page.getByRole("list", { name: "Next times" }).getByRole("listitem");
    await expect.poll(() => times.count()).toBe(5);
    await page.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("dialog", { name: "Edit the schedule" });
    await editor.getByLabel("Cron expression").fill("61 4 * * *");
    await editor.getByRole("button", { name: "Save" }).click();
    await editor.getByRole("alert").first().waitFor();
    await editor.getByLabel("Cron expression").fill("15 4 * * *");
    await editor.getByRole("button", { name: "Save" }).click();
    // The editor shows the same text until it closes.
    await editor.waitFor({ state: "detached" });
    await page.getByText("At 04:15").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("status").getByText("Succeeded").waitFor();
    await page.getByRole("link", { name: "Nightly", exact: true }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete the schedule" }).click();
    await page.getByText("No schedules yet").waitFor();
    expect(complaints).toEqual([]);
  });

  it("creates an agent and its key, which is refused after the agent is deleted", async () => {
    const { page, complaints } = await app.open("/agents");
    await page.getByRole("button", { name: "New agent" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Release bot");
    await page.getByRole("button", { name: "Create the agent" }).click();
    await page.getByRole("heading", { name: "Release bot", level: 1 }).waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("ci");
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.locator(".secret code").innerText();
    await page.getByRole("button", { name: "Done" }).click();
    expect((await app.api(key).call("GET", "/agent/runs")).status).toBe(200);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete the agent" }).click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    expect((await app.api(key).call("GET", "/agent/runs")).status).toBe(401);
    expect(complaints).toEqual([]);
  });

  it("creates a trust rule of an agent by keyboard, changes it, and deletes it", async () => {
    const agent = await app.api().call("POST", "/agent/identities", { name: "Deployer" });
    const { page, complaints } = await app.open(`/agents/${agent.body.uid}`);
    const rules = page.getByRole("region", { name: "Trust rules" });
    await rules.getByText("No trust rules").waitFor();
    await rules.getByRole("button", { name: "New rule" }).press("Enter");
    const editor = page.getByRole("dialog", { name: "New trust rule" });
    await editor.getByLabel("Subject pattern").fill("***");
    await page.keyboard.press("Enter");
    await editor.getByText("must have more than asterisks").first().waitFor();
    await editor.getByLabel("Subject pattern").fill("repo:acme/shop:*");
    await editor.getByLabel(/^Maximum budget/).fill("$10");
    await page.keyboard.press("Enter");
    await editor.getByText("Write a plain number").waitFor();
    await editor.getByLabel(/^Maximum budget/).fill("2,5");
    await page.keyboard.press("Enter");
    const rule = rules.getByRole("listitem").filter({ hasText: "repo:acme/shop:*" });
    await rule.getByText("$2.50").waitFor();
    await rule.getByRole("button", { name: "Edit the rule for repo:acme/shop:*" }).press("Enter");
    const changed = page.getByRole("dialog", { name: "Edit the trust rule" });
    await changed.getByLabel("Subject pattern").fill("repo:acme/shop:ref:refs/heads/main");
    await changed.getByLabel("Keys are valid for").selectOption("15 minutes");
    await changed.getByLabel("Scopes", { exact: true }).selectOption("Selected ones");
    await changed.getByRole("button", { name: "Save" }).press("Enter");
    await rules.getByText("repo:acme/shop:ref:refs/heads/main").waitFor();
    const listed = await app.api().call("GET", `/agent/identities/${agent.body.uid}/trust-rules`);
    expect(listed.body.trust_rules).toMatchObject([
      {
        issuer: "https://token.actions.githubusercontent.com",
        ttl_seconds: 900,
        max_budget_usd: 2.5,
        scopes: ["runs:read", "runs:write"],
      },
    ]);
    await rules.getByRole("button", { name: /^Delete the rule for/ }).press("Enter");
    await page.getByRole("button", { name: "Delete the rule", exact: true }).press("Enter");
    await rules.getByText("No trust rules").waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows how a run that waits for capacity moves up in the queue", async () => {
    const api = app.api();
    const [team] = (await api.call("GET", "/agent/me")).body.teams;
    await api.call("PUT", `/agent/teams/${team.uid}`, { settings: { concurrency_limit: 1 } });
    const running = await api.create(commands("sleep 600"), RUNBOOK);
    const next = await api.create(commands("sleep 600"), RUNBOOK);
    const last = await api.create(commands("true"), { title: "Wait for the others", ...RUNBOOK });
    const { page, complaints } = await app.open(`/runs/${last}`);
    const status = page.getByRole("status");
    await status.getByText("Waiting for capacity, position 2").waitFor();
    await api.call("POST", `/agent/runs/${next}/cancel?force=true`);
    await status.getByText("Waiting for capacity, position 1").waitFor();
    await api.call("POST", `/agent/runs/${running}/cancel?force=true`);
    await status.getByText("Succeeded").waitFor();
    await expect.poll(() => status.getByText("Waiting for capacity").count()).toBe(0);
    await api.call("PUT", `/agent/teams/${team.uid}`, { settings: { concurrency_limit: null } });
    expect(complaints).toEqual([]);
  });

  it("invites a person, who gets an account with a key", async () => {
    const { page } = await app.open("/settings/team");
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByRole("button", { name: "Create an invitation" }).click();
    const link = new URL(await page.locator(".secret code").innerText());
    const guest = await app.openSignedOut(link.pathname);
    await guest.page.getByRole("button", { name: "Accept the invitation" }).click();
    const key = await guest.page.locator(".secret code").innerText();
    const { body } = await app.api(key).call("GET", "/agent/me");
    expect(v.parse(v.object({ email: v.string() }), body).email).toBe("ada@example.com");
    await guest.page.getByRole("button", { name: "Continue" }).click();
    await guest.page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  });

  it("shows the key of an invited person although the responses to their first requests are lost", async () => {
    const api = app.api();
    const [team] = (await api.call("GET", "/agent/me")).body.teams;
    const invitation = { email: "grace@example.com", role: "member" };
    const { link } = (await api.call("POST", `/agent/teams/${team.uid}/invitations`, invitation)).body;
    const { page } = await app.openSignedOut(new URL(link).pathname);
    let isLost = true;
    await page.route("**/accept", async (route) => {
      if (!isLost) return route.continue();
      await route.fetch();
      await route.abort();
    });
    const accept = page.getByRole("button", { name: "Accept the invitation" });
    await accept.click();
    await page.getByRole("alert").waitFor();
    isLost = false;
    await page.reload();
    await accept.click();
    const key = await page.locator(".secret code").innerText();
    const { body } = await app.api(key).call("GET", "/agent/me");
    expect(v.parse(v.object({ email: v.string() }), body).email).toBe("grace@example.com");
  });
});
