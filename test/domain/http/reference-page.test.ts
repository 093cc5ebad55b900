import { describe, expect, it } from "vitest";
import { errorIndex, errorPage } from "#shared/docs/error-pages.ts";
import { guideFiles } from "#shared/docs/guide-files.ts";
import { homePage } from "#shared/docs/home-page.ts";
import { table } from "#shared/docs/html.ts";
import { escapeMarkdown, formatCode, formatTable, renderMarkdown } from "#shared/docs/markdown.ts";
import { describeSchema, formatMembers, formatType, hasMembers } from "#shared/docs/member-tables.ts";
import { referencePage } from "#shared/docs/operation-page.ts";
import { parsePageName, respondWithPage } from "#shared/docs/page.ts";
import { search } from "#shared/docs/search.ts";
import published from "../../../docs/openapi.json" with { type: "json" };

const BASE_URL = "https://runyard.test/api/v1";

/** A page without the parts that all pages share. */
const body = (page: string): string =>
  page.replace(/^[\s\S]*<a class="skip"[^\n]*\n/, "").replace(/<\/body>[\s\S]*$/, "");

/** One operation of each kind. */
const document = {
  info: { title: "Yard", version: "1.2.3", description: "First.\n\nSecond `code`.\n## Keys\nThird & last." },
  tags: [
    { name: "runs", description: "Runs of `agents`." },
    { name: "pages", description: "Pages." },
  ],
  paths: {
    "/runs/{id}": {
      post: {
        tags: ["runs"],
        operationId: "createRun",
        description: "Creates a run.",
        "x-principals": ["personal", "agent", "run"],
        security: [{ bearer: ["runs:write"] }, { session: ["runs:write"] }],
        "x-error-codes": ["invalid_request", "conflict"],
        parameters: [
          { $ref: "#/components/parameters/Id" },
          { name: "limit", in: "query", description: "Items.", schema: { type: "integer", minimum: 1, maximum: 5000 } },
        ],
        requestBody: {
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Run" },
              examples: { one: { value: { a: 1 } }, two: { value: { a: 2 } } },
            },
          },
        },
        responses: {
          200: {
            description: "Created.",
            content: {
              "application/json": {
                schema: { type: "object", properties: { id: { type: "string" } } },
                example: { id: "x" },
              },
            },
          },
          204: { description: "Nothing." },
          400: { description: "Wrong." },
        },
      },
      get: { tags: ["runs"], operationId: "getRun", "x-principals": ["personal", "agent"], responses: {} },
      delete: { tags: ["runs"], operationId: "deleteRun", "x-principals": ["run"], responses: {} },
    },
    "/docs": {
      get: {
        tags: ["pages"],
        operationId: "getDocs",
        description: "A page.",
        responses: { 200: { description: "A page.", content: { "text/html": { schema: { type: "string" } } } } },
      },
    },
  },
  components: {
    parameters: { Id: { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } } },
    schemas: {
      Run: {
        type: "object",
        description: "A run.",
        required: ["prompt"],
        properties: {
          prompt: { type: "string", description: "What to do." },
          config: { type: "object", properties: { name: { type: "string" } } },
          parent: { $ref: "#/components/schemas/Run", description: "The run that started it." },
          state: { $ref: "#/components/schemas/State" },
          list: { type: "array", items: { type: "object", required: ["a"], properties: { a: { type: "number" } } } },
        },
      },
      State: { type: "string", enum: ["QUEUED", "FAILED"] },
    },
  },
} as const;

const sources = { document, methods: { createRun: "runs.create" }, commands: { createRun: "runyard run hello" } };
const guides = new Map([
  ["README", "# Contents\n\n## Start\n\n- [One](one.md#first): `a`\n- [File](../file.ts), [API](openapi.json)\n"],
]);
const context = { document, schemaUrl: (name: string) => `/${name}` };

describe("the pages of the reference", () => {
  it("are those of reference-page.txt (`npx vitest run test/domain/http/reference-page.test.ts -u` after a change)", async () => {
    const pages = ["createRun", "getDocs", "Run", "State"].map((name) => referencePage(name, sources, BASE_URL));
    const texts = [body(homePage(document, guides, BASE_URL, "")), ...pages.map((page) => page?.markdown ?? "missing")];
    await expect(texts.join("\n=====\n")).toMatchFileSnapshot("reference-page.txt");
  });

  it("exist for operations and schemas only", () => {
    expect(
      ["deleteRun", "createruns", "__proto__", ""].map((name) => referencePage(name, sources, BASE_URL)?.title),
    ).toEqual(["DELETE /runs/{id}", undefined, undefined, undefined]);
  });
});

describe("the pages of errors", () => {
  it("are those of error-pages.txt (`npx vitest run test/domain/http/reference-page.test.ts -u` after a change)", async () => {
    const codes = ["invalid_request", "conflict", "resource_unavailable", "internal_error"] as const;
    const pages = [errorIndex(BASE_URL), ...codes.map((code) => errorPage(code, BASE_URL))];
    await expect(pages.map(body).join("\n")).toMatchFileSnapshot("error-pages.txt");
  });
});

describe("formatType", () => {
  it.each([
    [{ $ref: "#/components/schemas/Run" }, "[Run](/Run)"],
    [{ oneOf: [{ type: "string" }, { type: "null" }] }, "string or null"],
    [{ anyOf: [{ type: "string" }, { const: 5 }] }, "string or `5`"],
    [{ type: "object", anyOf: [{ required: ["a"] }] }, "object"],
    [{ const: "x" }, '`"x"`'],
    [{ enum: ["a", "b", 3] }, "`a` or `b` or `3`"],
    [{ type: ["string", "null"] }, "string or null"],
    [{ type: "array", items: { type: "string" } }, "list of string"],
    [{ type: "array" }, "list of anything"],
    [{ type: "object", additionalProperties: { type: "number" } }, "map to number"],
    [{ type: "object", additionalProperties: false }, "object"],
    [{ type: "string", format: "uuid" }, "string (uuid)"],
    [{}, "anything"],
  ])("formats %j", (schema, text) => expect(formatType(schema, context)).toBe(text));
});

describe("describeSchema", () => {
  it.each([
    [{}, ""],
    [{ description: "A `name` of [two] `*`." }, "A `name` of \\[two\\] `*`."],
    [{ description: "N.", minimum: 1, maximum: 5000 }, "N. 1 to 5,000."],
    [{ minimum: 0, maximum: 999 }, "At most 999."],
    [{ minimum: 2 }, "At least 2."],
    [{ minimum: 0 }, "At least 0."],
    [{ maximum: 1.5 }, ""],
    [{ minLength: 1, maxLength: 1234567 }, "1 to 1,234,567 characters."],
    [{ description: "At most 5 bytes in UTF-8.", maxLength: 5 }, "At most 5 bytes in UTF-8."],
    [{ maxItems: 3 }, "At most 3 items."],
    [{ maxProperties: 3 }, "At most 3 members."],
    [{ default: false }, "Default `false`."],
    [{ maximum: 3, default: 2 }, "At most 3. Default `2`."],
  ])("describes %j", (schema, text) => expect(describeSchema(schema)).toBe(text));
});

describe("formatMembers", () => {
  const object = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
  const members = (schema: object) => formatMembers({ ...schema }, context).match(/`[\w.[\]]+`\??|Either:|Or:/g);

  it("has a table for each object of a union", () => {
    expect(members({ oneOf: [object("one"), { type: "null" }, object("two")] })).toEqual([
      "Either:",
      "`one`?",
      "Or:",
      "`two`?",
    ]);
  });

  it("has the members of nested objects, of the items of lists and of named schemas by their paths", () => {
    const nested = {
      type: "object",
      required: ["a"],
      properties: { a: object("b"), l: { type: "array", items: object("c") } },
    };
    expect(members(nested)).toEqual(["`a`", "`a.b`?", "`l`?", "`l[].c`?"]);
    const nullable = {
      type: "object",
      properties: { run: { anyOf: [{ $ref: "#/components/schemas/Run" }, { type: "null" }] } },
    };
    expect(members(nullable)).toEqual(expect.arrayContaining(["`run`?", "`run.prompt`", "`run.config.name`?"]));
  });

  it("ends where a schema contains itself", () => {
    expect(members({ $ref: "#/components/schemas/Run" })?.filter((member) => member.startsWith("`parent"))).toEqual([
      "`parent`?",
    ]);
  });

  it("is empty without members", () => {
    expect(formatMembers({ type: "string" }, context)).toBe("");
    expect([{ type: "string" }, object("a"), { anyOf: [object("a")] }].map(hasMembers)).toEqual([false, true, true]);
  });
});

describe("search", () => {
  const entry = (title: string, summary = "", text = "") => ({ title, summary, text, url: `/${title}` });
  const entries = [
    entry("GET /runs", "Lists runs.", "webhook_url"),
    entry("createWebhook"),
    entry("Webhooks", "Signed events."),
  ];
  const titles = (query: string) => search(entries, query).map(({ title }) => title);

  it("finds what has all words, best titles first", () => {
    expect(titles("webhooks")).toEqual(["Webhooks", "createWebhook", "GET /runs"]);
    expect(titles("WebHook")).toEqual(["createWebhook", "Webhooks", "GET /runs"]);
    expect(titles("webhook url")).toEqual(["GET /runs"]);
    expect(titles(" .* ")).toEqual([]);
    expect(titles("unknown")).toEqual([]);
  });

  it("finds what has half of the words if nothing has all, and leaves out words that say nothing", () => {
    expect(titles("webhook missing")).toEqual(["createWebhook", "Webhooks", "GET /runs"]);
    expect(titles("webhook missing words")).toEqual([]);
    expect(titles("How do I get the list?")).toEqual(["GET /runs"]);
    expect(titles("how")).toEqual([]);
  });

  it.each([
    ["how do I cancel from CI", "/docs/guides/ci#"],
    ["webhook signature", "/docs/guides/webhooks#verify-the-signature"],
    ["verify webhook signatures", "/docs/guides/webhooks#verify-the-signature"],
    ["cron in a time zone", "/docs/guides/schedules#schedules"],
    ["how do I stop a run", "/docs/reference/cancelRun"],
    ["what does 409 mean", "/docs/errors/conflict"],
    ["github actions", "/docs/guides/ci#github-actions"],
  ])("answers “%s” by its first result", (query, url) => {
    const [, first] =
      /<ol><li><a href="([^"]*)"/.exec(homePage(published, guideFiles("docs")(), BASE_URL, query)) ?? [];
    expect(first).toContain(`${BASE_URL}${url}`);
  });
});

describe("the Markdown of pages", () => {
  it("keeps its text in cells, code and sentences", () => {
    expect(formatTable(["a|b"], [["one\ntwo|three"]])).toBe("| a\\|b |\n| --- |\n| one two\\|three |");
    expect(formatTable(["a"], [])).toBe("");
    expect(formatCode("sh", "a\n```\nb\n```")).toBe("````sh\na\n```\nb\n```\n````");
    expect(escapeMarkdown("<a> *b* `*c*`")).toBe("\\<a\\> \\*b\\* `*c*`");
  });

  it("is rendered without scripts, pictures and links to other schemes", () => {
    const { html } = renderMarkdown(
      "## One `two`\n\nText <script>x</script> [a](javascript:x) [b](https://b.example) ![c](d.png)\n\n| h |\n|---|\n| <b> |",
    );
    expect(html).not.toMatch(/<script|javascript:|<img|<b>/);
    expect(html).toContain('<h2 id="one-two">One <code>two</code></h2>');
    expect(html).toContain('a <a href="https://b.example">b</a> <em>c</em>');
    expect(html).toContain('<div class="wide" role="region" tabindex="0" aria-label="Table 1: h">');
  });

  it("is the response where the name ends in .md", () => {
    expect(["runs.md", "runs", ".md"].map(parsePageName)).toEqual([
      { name: "runs", isMarkdown: true },
      { name: "runs", isMarkdown: false },
      { name: "", isMarkdown: true },
    ]);
    const page = { title: "Runs", markdown: "# Runs\n", url: "/runs" };
    const { html, headers } = respondWithPage(page, { baseUrl: BASE_URL, isMarkdown: true });
    expect({ html, type: headers["content-type"] }).toEqual({ html: "# Runs\n", type: "text/markdown; charset=utf-8" });
    expect(respondWithPage(page, { baseUrl: BASE_URL, isMarkdown: false }).html).toContain('<a href="/runs.md">');
  });
});

describe("HTML", () => {
  it("escapes every value that is not HTML already", () => {
    const { html } = table(`<"c'&">`, ["<h>"], [[{ html: "<i>" }, { html: "2" }]]);
    expect(html).toContain('aria-label="&lt;&quot;c&#39;&amp;&quot;&gt;"');
    expect(html).toContain('<th scope="col">&lt;h&gt;</th>');
    expect(html).toContain('<tr><th scope="row"><i></th><td>2</td></tr>');
  });
});
