import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { deliver, type Harness, harnessOf } from "../support/execution.ts";
import { openBrowser, visit } from "./support/browser.ts";
import { Site } from "./support/site.ts";

describe("the page before the service itself", () => {
  const site = new Site();
  let browser: Browser;
  let plane: TestControlPlane;

  beforeAll(async () => {
    plane = await createTestControlPlane();
    await site.start();
    site.service = (target, key) => request(plane, "GET", target, { key });
    browser = await openBrowser();
    return () => {
      // Lets the long polls of readers who left come to their end.
      plane.clock.now += 3_600_000;
    };
  });
  afterAll(async () => {
    await browser?.close();
    await site.stop();
  });

  it("goes from the first key to the end of a run, whose every step it shows", async () => {
    const { page, complaints } = await visit(browser, site);
    await page.getByLabel("API key").fill("ryp_wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This key is not accepted").waitFor();
    await page.getByLabel("API key").fill(plane.key);
    await page.keyboard.press("Enter");
    await page.getByText("There are no runs yet").waitFor();

    const created = await request(plane, "POST", "/agent/runs", { body: { prompt: "Say hello.", title: "Hello" } });
    await page.reload();
    await page.getByRole("link", { name: "Hello" }).click();
    await page.getByText("Queued", { exact: true }).waitFor();

    const harness = harnessOf(plane, await plane.dispatch(created.body.run_id));
    await harness.resolve();
    await page.getByText("In progress", { exact: true }).waitFor();
    await work(harness);
    await page.getByText("exit code 0 · 7 ms").waitFor();
    await page.getByText("The greeting is out.").waitFor();
    await page.getByText("Agent started").waitFor();
    await harness.finish(false, "The command failed with exit code 2.");
    await deliver(plane);
    await page.getByText("Ended", { exact: true }).waitFor();
    await page.locator(".status-message").getByText("The command failed with exit code 2.").waitFor();
    const timeline = await page.getByRole("region", { name: "Timeline" }).getByRole("listitem").allInnerTexts();
    expect(timeline[0]).toContain("Run created");
    expect(timeline.some((text) => text.includes("Run failed"))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("walks the list by the service's own cursors", async () => {
    for (let count = 0; count < 24; count++) {
      plane.clock.now += 1000;
      await request(plane, "POST", "/agent/runs", { body: { prompt: `Number ${count}` } });
    }
    const { page } = await visit(browser, { ...site, key: plane.key });
    await page.getByRole("link", { name: "Number 23" }).waitFor();
    expect(await page.getByRole("listitem").count()).toBe(20);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("link", { name: "Hello" }).waitFor();
    expect(await page.getByRole("listitem").count()).toBe(25);
  });
});

/** What a harness reports of one command. */
async function work(harness: Harness): Promise<void> {
  const kind = { category: "command", name: "run_command" };
  const event = { event_uuid: "e-1", event_name: "agent_started", timestamp: "2026-05-18T19:00:01.000Z" };
  await harness.event(event);
  const messages = [
    { role: "assistant", content: [{ type: "action", id: "c1", ...kind, input: { command: "echo hello" } }] },
    {
      role: "tool",
      content: [
        {
          type: "action_result",
          action_id: "c1",
          ...kind,
          state: "completed",
          output: { exit_code: 0, stdout: "hello\n", duration_ms: 7 },
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "The greeting is out." }] },
  ];
  await harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages });
}
