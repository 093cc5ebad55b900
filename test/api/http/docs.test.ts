import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { basename } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "#shared/errors.ts";
import document from "../../../docs/openapi.json" with { type: "json" };
import { root } from "../../../scripts/run-command.ts";
import { createClient } from "../../support/client.ts";
import {
  BASE_URL,
  createTestControlPlane,
  type ResponseBody,
  type TestControlPlane,
} from "../../support/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await createTestControlPlane();
});
/** Opens a page without a key, like a browser that follows a link. */
const open = (path: string): Promise<ResponseBody> => createClient(plane, undefined).get(path, { key: undefined });

const codes = Object.keys(ERRORS);
const names = [
  ...Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)),
  ...Object.keys(document.components.schemas),
];
const references = names.map((name) => `/docs/reference/${name}`);
const guides = globSync("docs/*.md", { cwd: root }).map((file) => basename(file, ".md"));
const guidePages = guides.map((name) => `/docs/guides/${name}`);
const pages = [
  ...guidePages,
  "/docs",
  "/docs?q=run",
  "/docs/reference/createRun",
  "/docs/reference/RunItem",
  "/docs/errors",
  ...codes.map((code) => `/docs/errors/${code.replaceAll("_", "-")}`),
];

describe("GET /openapi.json", () => {
  // @contract general.base.path: All paths are below /api/v1.
  // @contract general.responses.no-store
  // @contract general.docs.openapi: openapi.json, the document of the API, is below the base URL.
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

  // @contract general.auth.public
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
    const markdown = [...references, ...guidePages].map((reference) => `${reference}.md`);
    const known = new Set([...pages, ...references, ...markdown, "/openapi.json"].map((page) => `${BASE_URL}${page}`));
    expect(
      links
        .filter((link) => link.startsWith("#") || link.startsWith(BASE_URL))
        .filter((link) => !ids.has(link) && !known.has(link.replace(/(?<=\/(?:guides\/.*|docs))#.*/, ""))),
    ).toEqual([]);
    expect(links.length).toBeGreaterThan(1);
  });
});

describe("GET /docs", () => {
  it("leads to every operation and schema, at the anchors of the former single page", async () => {
    const { body } = await open("/docs");
    for (const name of names) expect(body).toContain(`<li id="${name}"><a href="${BASE_URL}/docs/reference/${name}">`);
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Buffer.byteLength(body)).toBeLessThan(80_000);
  });

  it("finds operations by words of their members, without a script", async () => {
    const { body } = await open("/docs?q=notify_url");
    expect(body).toContain(`<a href="${BASE_URL}/docs/reference/createRun">POST /agent/runs</a>`);
    expect(body).not.toContain("/docs/reference/listModels");
    expect((await open("/docs?q=zyzzyva")).body).toContain("No results for “zyzzyva”.");
  });

  it("escapes hostile text", async () => {
    const { homePage } = await import("#shared/docs/home-page.ts");
    const { referencePage } = await import("#shared/docs/operation-page.ts");
    const { respondWithPage } = await import("#shared/docs/page.ts");
    const hostile = `<script>alert("1")</script>`;
    const text = {
      summary: hostile,
      description: hostile,
      operationId: "a",
      tags: [hostile],
      parameters: [{ name: hostile, description: hostile }],
    };
    const api = {
      info: { title: hostile, description: hostile },
      tags: [{ name: hostile }],
      paths: { [hostile]: { get: text } },
    };
    for (const query of ["", hostile, "script"])
      expect(homePage(api, new Map([["README", hostile]]), BASE_URL, query)).not.toContain("<script");
    const page = referencePage("a", { document: api, methods: {}, commands: {} }, BASE_URL);
    expect(page && respondWithPage(page, { baseUrl: BASE_URL, isMarkdown: false }).html).not.toContain("<script");
  });
});

describe("GET /docs/reference/{name}", () => {
  it("has the parameters, the members of request and response, a call, and errors with their remedies", async () => {
    const { body } = await open("/docs/reference/createRun");
    for (const call of ["client.runs.create({", "client.runs.create(prompt=", "runyard run "])
      expect(body).toContain(call);
    for (const part of [
      "<h1 id=",
      "POST /agent/runs",
      "Idempotency-Key",
      "config.mcp_servers",
      "notify_secret",
      "-d &#39;{",
    ]) {
      expect(body).toContain(part);
    }
    expect(body).toContain("Correct the fields that");
    expect(body).toContain(`<a href="${BASE_URL}/docs/errors/budget-exceeded">`);
  });

  it("is a page of less than 75 kB for each operation and schema, as Markdown too", async () => {
    for (const name of names) {
      const [page, markdown] = [await open(`/docs/reference/${name}`), await open(`/docs/reference/${name}.md`)];
      expect([page.status, markdown.status], name).toEqual([200, 200]);
      expect(Buffer.byteLength(page.body), name).toBeLessThan(75_000);
      expect(page.body, name).not.toMatch(/undefined|\[object/);
      expect(markdown.headers["content-type"]).toBe("text/markdown; charset=utf-8");
      expect(markdown.body, name).toMatch(/^# /);
    }
  });

  it("returns 404 with a problem for an unknown name", async () => {
    for (const name of ["nothing", "createrun", "__proto__", ".md"]) {
      expect(await open(`/docs/reference/${name}`)).toMatchObject({
        status: 404,
        body: { error_code: "resource_not_found" },
      });
    }
  });
});

describe("GET /docs/guides/{guide}", () => {
  it("is in the table of contents once for each page of docs/", async () => {
    const { body } = await open("/docs");
    for (const name of guides.filter((guide) => guide !== "README")) {
      expect(body.split(`<a href="${BASE_URL}/docs/guides/${name}">`), name).toHaveLength(2);
    }
  });

  it("is Markdown as in docs/ where the name ends in .md, without links to other files of the repository", async () => {
    const { body, headers } = await open("/docs/guides/agent.md");
    expect(headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(body).toMatch(/^# The agent\n/);
    expect(body).not.toContain("](../");
  });

  it("is found by the words of its sections", async () => {
    expect((await open("/docs?q=missed+firings+schedule")).body).toContain(`href="${BASE_URL}/docs/guides/schedules#`);
  });

  it("returns 404 with a problem for an unknown name", async () => {
    for (const name of ["nothing", "openapi.json", "..%2Fpackage", "__proto__"]) {
      expect(await open(`/docs/guides/${name}`)).toMatchObject({ status: 404 });
    }
  });
});

describe("GET /llms.txt", () => {
  it("has the Markdown of every guide and operation", async () => {
    const { body, headers } = await open("/llms.txt");
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    const links = [...body.matchAll(/\]\(([^)]*)\)/g)].map(([, link]) => link);
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    const wanted = [
      ...guides.filter((name) => name !== "README").map((name) => `guides/${name}`),
      ...ids.map((id) => `reference/${id}`),
    ];
    expect(links.filter((link) => !wanted.some((page) => link === `${BASE_URL}/docs/${page}.md`))).toEqual([
      `${BASE_URL}/openapi.json`,
    ]);
    expect(links).toHaveLength(wanted.length + 1);
  });
});

describe("GET /docs/errors/{code}", () => {
  // @contract general.docs.base: The pages about errors are below {base_url}/docs.
  // @contract errors.member.type
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
