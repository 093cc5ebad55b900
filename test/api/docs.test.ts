import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { ERRORS } from "#shared/errors.ts";
import { createClient } from "../support/client.ts";
import {
  BASE_URL,
  createTestControlPlane,
  type ResponseBody,
  type TestControlPlane,
} from "../support/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await createTestControlPlane();
});
/** Opens a page without a key, like a browser that follows a link. */
const open = (path: string): Promise<ResponseBody> => createClient(plane, undefined).get(path, { key: undefined });

const codes = Object.keys(ERRORS);
const pages = ["/docs", "/docs/errors", ...codes.map((code) => `/docs/errors/${code.replaceAll("_", "-")}`)];

describe("GET /openapi.json", () => {
  it("returns the document to all callers, with the deployment's address, for tools and caches", async () => {
    const { status, headers, body } = await open("/openapi.json");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "public, max-age=300",
      "access-control-allow-origin": "*",
    });
    expect(body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), servers: [{ url: BASE_URL }] });
    expect(Object.keys(body.paths)).toContain("/agent/runs");
  });

  it("returns the same document for any credential", async () => {
    const { status, body } = await createClient(plane, "nonsense").get("/openapi.json");
    expect(status).toBe(200);
    expect(body).toEqual((await open("/openapi.json")).body);
  });
});

describe.each(pages)("GET %s", (path) => {
  it("returns a page without scripts and external resources", async () => {
    const { status, headers, body } = await open(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "public, max-age=300",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(body) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers["content-security-policy"]).toContain(digest);
    expect(body).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|undefined|\[object/);
  });

  it("links only to existing targets", async () => {
    const { body } = await open(path);
    const links = [...body.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href);
    const ids = new Set([...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`));
    const known = new Set([...pages, "/openapi.json"].map((page) => `${BASE_URL}${page}`));
    expect(links.filter((link) => !ids.has(link) && !known.has(link))).toEqual([]);
    expect(links.length).toBeGreaterThan(1);
  });
});

describe("GET /docs", () => {
  it("contains every route and schema once, so that the browser's search finds them", async () => {
    const { body } = await open("/docs");
    for (const { method, path } of routes.filter((route) => route.path !== "*")) {
      expect(body).toContain(`<h3><code>${method} ${path}</code></h3>`);
    }
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(["createRun", "RunItem", "Error"]));
  });

  it("escapes hostile text", async () => {
    const { referencePage } = await import("#shared/docs/reference-page.ts");
    const hostile = `<script>alert("1")</script>`;
    const text = { summary: hostile, description: hostile, operationId: hostile, tags: [hostile] };
    const document = { info: { title: hostile }, tags: [{ name: hostile }], paths: { [hostile]: { get: text } } };
    expect(referencePage(document, hostile)).not.toContain("<script");
  });
});

describe("GET /docs/errors/{code}", () => {
  it("is the target of a problem's type", async () => {
    const { body } = await createClient(plane).get("/agent/runs?limit=0");
    expect(body.error_code).toBe("invalid_request");
    const page = await open(body.type.replace(BASE_URL, ""));
    expect(page.status).toBe(200);
    expect(page.body).toContain("invalid_request");
  });

  it.each(codes)("explains %s: its meaning, the remedy, and whether to retry", async (code) => {
    const { body } = await open(`/docs/errors/${code.replaceAll("_", "-")}`);
    for (const part of ["What it means", "What to do", "Retryable", "Example"]) expect(body).toContain(part);
    expect(body).toContain(`&quot;error_code&quot;: &quot;${code}&quot;`);
  });

  it("returns 404 with a problem for an unknown code", async () => {
    for (const code of ["nonsense", "invalid_request", "INVALID-REQUEST", "__proto__"]) {
      expect(await open(`/docs/errors/${code}`)).toMatchObject({
        status: 404,
        body: { error_code: "resource_not_found" },
      });
    }
  });
});
