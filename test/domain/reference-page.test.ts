import { describe, expect, it } from "vitest";
import { errorIndex, errorPage } from "#shared/docs/error-pages.ts";
import { paragraphs, table } from "#shared/docs/html.ts";
import { referencePage } from "#shared/docs/reference-page.ts";
import { describeSchema, isMembers, membersTable, renderType } from "#shared/docs/schema-tables.ts";

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
          list: { type: "array", items: { type: "object", required: ["a"], properties: { a: { type: "number" } } } },
        },
      },
      State: { type: "string", enum: ["QUEUED", "FAILED"] },
    },
  },
} as const;

describe("referencePage", () => {
  it("renders an API as in reference-page.txt (`npx vitest run test/domain/reference-page.test.ts -u` after a change)", async () => {
    await expect(body(referencePage(document, BASE_URL))).toMatchFileSnapshot("reference-page.txt");
  });
});

describe("the pages of errors", () => {
  it("are those of error-pages.txt (`npx vitest run test/domain/reference-page.test.ts -u` after a change)", async () => {
    const codes = ["invalid_request", "conflict", "resource_unavailable", "internal_error"] as const;
    const pages = [errorIndex(BASE_URL), ...codes.map((code) => errorPage(code, BASE_URL))];
    await expect(pages.map(body).join("\n")).toMatchFileSnapshot("error-pages.txt");
  });
});

describe("renderType", () => {
  it.each([
    [{ $ref: "#/components/schemas/Run" }, '<a href="#Run">Run</a>'],
    [{ oneOf: [{ type: "string" }, { type: "null" }] }, "string or null"],
    [{ anyOf: [{ type: "string" }, { const: 5 }] }, "string or <code>5</code>"],
    [{ type: "object", anyOf: [{ required: ["a"] }] }, "object"],
    [{ const: "x" }, "<code>&quot;x&quot;</code>"],
    [{ enum: ["a", "b", 3] }, "<code>a</code> or <code>b</code> or <code>3</code>"],
    [{ type: "array", items: { type: "string" } }, "list of string"],
    [{ type: "array" }, "list of anything"],
    [{ type: "object", additionalProperties: { type: "number" } }, "map to number"],
    [{ type: "object", additionalProperties: false }, "object"],
    [{ type: "string", format: "uuid" }, "string (uuid)"],
    [{}, "anything"],
  ])("renders %j", (schema, html) => expect(renderType(schema)).toEqual({ html }));
});

describe("describeSchema", () => {
  it.each([
    [{}, ""],
    [{ description: "A `name`." }, "A <code>name</code>."],
    [{ description: "N.", minimum: 1, maximum: 5000 }, "N. 1 to 5,000."],
    [{ minimum: 0, maximum: 999 }, "At most 999."],
    [{ minimum: 2 }, "At least 2."],
    [{ minimum: 0 }, "At least 0."],
    [{ maximum: 1.5 }, ""],
    [{ minLength: 1, maxLength: 1234567 }, "1 to 1,234,567 characters."],
    [{ description: "At most 5 bytes in UTF-8.", maxLength: 5 }, "At most 5 bytes in UTF-8."],
    [{ maxItems: 3 }, "At most 3 items."],
    [{ maxProperties: 3 }, "At most 3 members."],
    [{ default: false }, "Default <code>false</code>."],
    [{ maximum: 3, default: 2 }, "At most 3. Default <code>2</code>."],
  ])("describes %j", (schema, html) => expect(describeSchema(schema)).toEqual({ html }));
});

describe("membersTable", () => {
  const object = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });

  it("has a table for each object of a union", () => {
    const { html } = membersTable("T", { oneOf: [object("one"), { type: "null" }, object("two")] });
    expect(html.match(/<p>\w+:<\/p>|aria-label="T[^"]*"|<code>\w+<\/code>/g)).toEqual([
      "<p>Either:</p>",
      'aria-label="T, 1"',
      "<code>one</code>",
      "<p>Or:</p>",
      'aria-label="T, 2"',
      "<code>two</code>",
    ]);
  });

  it("names the members of nested objects and of the items of lists by their paths", () => {
    const nested = {
      type: "object",
      required: ["a"],
      properties: { a: object("b"), l: { type: "array", items: object("c") } },
    };
    const { html } = membersTable("T", nested);
    expect(html.match(/<code>[^<]*<\/code>(<span[^>]*>)?/g)).toEqual([
      "<code>a</code>",
      '<code>a.b</code><span aria-label="optional">',
      '<code>l</code><span aria-label="optional">',
      '<code>l[].c</code><span aria-label="optional">',
    ]);
  });

  it("is empty without members", () => {
    expect(membersTable("T", { type: "string" })).toEqual({ html: "" });
    expect([{ type: "string" }, object("a"), { anyOf: [object("a")] }].map(isMembers)).toEqual([false, true, true]);
  });
});

describe("HTML", () => {
  it("escapes every value that is not HTML already", () => {
    const { html } = table(`<"c'&">`, ["<h>"], [[{ html: "<i>" }, { html: "2" }]]);
    expect(html).toContain('aria-label="&lt;&quot;c&#39;&amp;&quot;&gt;"');
    expect(html).toContain('<th scope="col">&lt;h&gt;</th>');
    expect(html).toContain('<tr><th scope="row"><i></th><td>2</td></tr>');
  });

  it.each([
    ["one\n\ntwo\n\n\nthree", "<p>one</p>\n<p>two</p>\n<p>three</p>"],
    ["one\ntwo", "<p>one\ntwo</p>"],
    ["one\n## Two\nthree", "<p>one</p>\n<h3>Two</h3>\n<p>three</p>"],
    ["a `b<c` d `e`", "<p>a <code>b&lt;c</code> d <code>e</code></p>"],
    ["", ""],
  ])("is made of the Markdown %j", (markdown, html) => expect(paragraphs(markdown)).toEqual({ html }));
});
