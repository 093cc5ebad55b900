import http from "node:http";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";
import { openBrowser, visit } from "./support/browser.ts";

let browser: Browser;
let origin: string;
const server = http.createServer();
beforeAll(async () => {
  const plane = await createTestControlPlane();
  server.on("request", (incoming, response) => {
    void request(plane, "GET", incoming.url ?? "/", { key: undefined }).then(({ status, headers, body }) =>
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("the API reference and the pages of errors", () => {
  it.each([
    ["/docs", "light"],
    ["/docs?q=run", "dark"],
    ["/docs/reference/createRun", "light"],
    ["/docs/reference/RunItem", "dark"],
    ["/docs/errors", "dark"],
    ["/docs/errors/conflict", "light"],
    ["/docs/errors/conflict", "dark"],
  ] as const)("are public: %s in the %s", async (path, colorScheme) => {
    const { page, complaints } = await visit(browser, { origin, path, colorScheme });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const font = await page.evaluate("getComputedStyle(document.body).fontFamily");
    expect(font, "the style is let through by the policy").toContain("system-ui");
    await page.evaluate(axe.source);
    const found = await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))",
    );
    expect(found).toEqual([]);
    expect(complaints.filter((complaint) => !complaint.includes("favicon"))).toEqual([]);
    await page.context().close();
  });

  it.each(["/docs", "/docs/reference/createRun"])(
    "fit a screen of 360 pixels, with scrolling tables: %s",
    async (path) => {
      const { page } = await visit(browser, { origin, path, width: 360 });
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect(width).toBeLessThanOrEqual(360);
      await page.context().close();
    },
  );
});
