import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

const IMAGE = `<img src=x onerror="alert('image')">`;
const MARKUP = `${IMAGE}</pre></script><script>alert('script')</script><svg onload=alert(1)>`;
const MARKDOWN = [
  MARKUP,
  "![tracker&#x202E;](https://tracker.example/pixel.png)",
  "[script](javascript:alert('link')) [data](data:text/html,x) [user](https://a:b@bank.example/)",
  "[good](https://good.example/page) <https://auto.example>",
  "<style>body{display:none}</style><iframe src='https://frame.example'></iframe>",
  "reference &#x202E;gnp.exe &#8203;&ZeroWidthSpace; [label&#x2066;](https://good.example/label)",
  "zero\u200Bwidth \u202Egnp.exe \u2066isolate \u{E0041}",
].join("\n\n");

type Block = Record<string, unknown>;

/** Opens a run whose events are those of a test, as a harness that an attacker controls could report them. */
async function openEvents(blocks: readonly Block[], options = {}) {
  const run = await app.api().create("```sh\ntrue\n```", { title: `Title ${MARKUP}`, ...RUNBOOK });
  await app.api().ended(run);
  const { page, complaints } = await app.open("/runs", options);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.route(`**/agent/runs/${run}/events*`, (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get("after") ?? "0");
    const messages = blocks.map((block) => ({ role: "assistant", content: [block] }));
    const event = { sequence: 1, type: "messages", occurred_at: "2026-05-18T19:00:00.000Z", data: { messages } };
    return route.fulfill({ json: { events: after === 0 ? [event] : [], next: 1, ended: true } });
  });
  await page.goto(new URL(`/runs/${run}`, page.url()).href);
  return { page, complaints, requested, origin: new URL(page.url()).origin };
}

const command = (id: string, stdout: string): Block[] => [
  { type: "action", id, category: "command", name: "run_command", input: { command: MARKUP } },
  {
    type: "action_result",
    action_id: id,
    category: "command",
    name: "run_command",
    state: "completed",
    output: { exit_code: 0, stdout },
  },
];

const elements = (page: Page, selector: string) => page.locator(`#main :is(${selector})`).count();

describe("hostile text", () => {
  it("runs no script, requests nothing, and links only to safe addresses", async () => {
    const tool = { category: "integration", name: IMAGE };
    const { page, complaints, requested, origin } = await openEvents([
      { type: "text", text: MARKDOWN },
      ...command("c1", MARKUP),
      { type: "action", id: "c2", ...tool, title: MARKUP, input: { url: MARKUP } },
      {
        type: "action_result",
        action_id: "c2",
        ...tool,
        state: "failed",
        summary: MARKUP,
        diff: `--- a/${IMAGE}\n+++ b/${IMAGE}\n@@ -1 +1 @@\n-${MARKUP}\n+${MARKUP}`,
        output: MARKUP,
      },
      { type: "event", name: IMAGE, data: MARKUP },
    ]);
    await page.locator(".conversation").getByText("good", { exact: true }).waitFor();
    await page.locator(".diff-add").waitFor();
    expect(await elements(page, "script, iframe, style, object, embed, form[action]")).toBe(0);
    expect(await elements(page, "img")).toBe(0);
    const links = await page
      .locator("#main .markdown a")
      .evaluateAll((all) => all.map((link) => String(link.getAttribute("href"))));
    expect([...new Set(links)].toSorted()).toEqual([
      "https://auto.example/",
      "https://good.example/label",
      "https://good.example/page",
      "https://tracker.example/pixel.png",
    ]);
    const rel = await page.locator(".conversation").getByRole("link", { name: "good" }).getAttribute("rel");
    expect(rel).toContain("noopener noreferrer");
    const text = await page.locator("#main").innerText();
    expect(text).toContain("zero[U+200B]width [U+202E]gnp.exe [U+2066]isolate [U+E0041]");
    expect(text).toContain("reference [U+202E]gnp.exe [U+200B][U+200B] label[U+2066]");
    expect(text).toContain("Image: tracker[U+202E]");
    expect(requested.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("does not slow the page down with 10 MB of output in 5,000 messages", async () => {
    const line = "\u001b[3".concat("1m", "x".repeat(60), "\u001b[0m\n");
    const blocks = Array.from({ length: 2500 }, (_, index) => command(`c${index}`, line.repeat(58))).flat();
    const { page, complaints } = await openEvents(blocks);
    await page.locator(".terminal").first().waitFor();
    expect(await page.locator("#main .entry").count()).toBeLessThan(60);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.locator("#ac2499").waitFor();
    expect(await page.locator("#main *").count()).toBeLessThan(4000);
    expect(complaints).toEqual([]);
  });

  it("cannot fill the page with colors, cursor moves, long lines or deep Markdown", async () => {
    const { page, complaints } = await openEvents(
      [
        ...command("c1", "\u001b[31ma\u001b[0m".repeat(100_000)),
        ...command("c2", `\u001b[2J\u001b[999A\u001b]0;title\u0007\u001bP+q\u001b\\visible ${"w".repeat(2_000_000)}`),
        { type: "text", text: `${"> ".repeat(9000)}deep` },
        { type: "text", text: `${"[".repeat(20_000)}x${"](y)".repeat(4000)}` },
        { type: "text", text: `${"*a **b ".repeat(4000)}` },
        { type: "text", text: "t".repeat(250_000) },
        { type: "text", text: "the end" },
      ],
      { width: 320 },
    );
    await page.locator(".conversation").getByText("the end", { exact: true }).waitFor();
    await page.getByText(/^visible w+/).waitFor();
    expect(await pageWidth(page)).toBeLessThanOrEqual(320);
    await page
      .getByRole("button", { name: /^Show all/ })
      .first()
      .click();
    expect(await page.locator("#main *").count()).toBeLessThan(20_000);
    expect(complaints).toEqual([]);
  });

  it("is harmless even as markup, because of the content security policy", async () => {
    const { page, complaints } = await openEvents([]);
    const outcome = await page.evaluate(`(async () => {
      document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(IMAGE)});
      return fetch("http://127.0.0.1:1/", { mode: "no-cors" }).then(() => "sent", () => "refused");
    })()`);
    expect(outcome).toBe("refused");
    await expect
      .poll(() => complaints.filter((text) => text.includes("Content Security Policy")).length)
      .toBeGreaterThan(1);
    expect(complaints.filter((text) => text.startsWith("a dialog"))).toEqual([]);
  });

  it("has visible characters in the names of buttons and in the questions of dialogs", async () => {
    const created = await app.api().call("POST", "/agent/keys", { name: "laptop \u202Egnp" });
    expect(created.status).toBe(201);
    const { page } = await app.open("/settings/keys");
    await page.getByRole("button", { name: "Revoke laptop [U+202E]gnp" }).click();
    await page.getByRole("heading", { name: "Revoke laptop [U+202E]gnp?" }).waitFor();
  });

  it("is not stored by caches and cannot be framed", async () => {
    const page = await fetch(new URL("/runs", app.baseUrl));
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const { headers } = await app.api().call("GET", "/agent/runs");
    expect(headers.get("cache-control")).toBe("no-store");
  });
});
