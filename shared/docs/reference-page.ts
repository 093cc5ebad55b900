import { type Html, html, json, page, paragraphs, prose, table } from "./html.ts";
import {
  describeSchema,
  isMembers,
  isObject,
  type JsonObject,
  membersTable,
  resolve,
  textOf,
  typeOf,
} from "./schema-tables.ts";

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly data: JsonObject;
}

/** Renders the API reference from the OpenAPI document: one page without scripts, searchable in the browser. */
export function referencePage(document: JsonObject, baseUrl: string): string {
  const operations = operationsOf(document);
  const tags = listOf(document["tags"]).filter(isObject);
  const info = objectOf(document["info"]);
  const body = html`<header>
<h1>${textOf(info["title"])} API reference</h1>
<p>Version ${textOf(info["version"])} · base URL <code>${baseUrl}</code> · <a href="${baseUrl}/openapi.json">OpenAPI document</a> ·
<a href="${baseUrl}/docs/errors">errors</a></p>
</header>
<nav aria-label="Contents"><h2>Contents</h2>
${tags.map((tag) => contentsOf(tag, operations))}
<h3>Schemas</h3><ul>${schemasOf(document).map(([name]) => html`<li><a href="#${name}">${name}</a></li>\n`)}</ul></nav>
<main id="main">
<section><h2>Getting started</h2>${paragraphs(textOf(info["description"]))}
<pre tabindex="0"><code>${firstCall(baseUrl)}</code></pre></section>
${tags.map((tag) => sectionOf(tag, operations, document, baseUrl))}
<section><h2>Schemas</h2>
${schemasOf(document).map(([name, schema]) => shapeOf(name, schema))}</section>
</main>`;
  return page(`${textOf(info["title"])} API reference`, body);
}

const firstCall = (baseUrl: string): string =>
  `curl ${baseUrl}/agent/runs \\\n  -H "Authorization: Bearer $RUNYARD_API_KEY" -H "Content-Type: application/json" \\\n` +
  `  -H "Idempotency-Key: my-first-run" \\\n  -d '{"prompt": "Say hello.\\n\\n\`\`\`sh\\necho hello\\n\`\`\`"}'`;

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(objectOf(document["paths"])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, value]) => {
      const data = objectOf(value);
      const [tag] = listOf(data["tags"]);
      return { method: method.toUpperCase(), path, id: textOf(data["operationId"]), tag: textOf(tag), data };
    }),
  );
}

const schemasOf = (document: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(objectOf(objectOf(document["components"])["schemas"])).map(([name, schema]) => [
    name,
    objectOf(schema),
  ]);

function contentsOf(tag: JsonObject, operations: readonly Operation[]): Html {
  const name = textOf(tag["name"]);
  return html`<h3>${name}</h3><ul>${operations
    .filter((operation) => operation.tag === name)
    .map(({ id, method, path }) => html`<li><a href="#${id}"><code>${method} ${path}</code></a></li>\n`)}</ul>`;
}

function sectionOf(tag: JsonObject, operations: readonly Operation[], document: JsonObject, baseUrl: string): Html {
  const name = textOf(tag["name"]);
  return html`<section><h2>${name}</h2><p>${prose(textOf(tag["description"]))}</p>
${operations.filter((operation) => operation.tag === name).map((operation) => articleOf(operation, document, baseUrl))}</section>`;
}

function articleOf({ id, method, path, data }: Operation, document: JsonObject, baseUrl: string): Html {
  const principals = listOf(data["x-principals"]).map(textOf);
  const callers = principals.length === 0 ? "Public: requires no API key." : `Accepts ${listed(principals)} keys.`;
  return html`<article id="${id}"><h3><code>${method} ${path}</code></h3>
<p>${prose(textOf(data["description"]))} ${callers}</p>
${parametersOf(id, data, document)}${requestOf(id, data)}${answersOf(id, data)}
<h4>Errors</h4>
<p>${listOf(data["x-error-codes"]).map((code) => errorLink(textOf(code), baseUrl))}</p></article>\n`;
}

const listed = (words: readonly string[]): string => words.join(", ").replace(/, ([^,]*)$/, " and $1");

const errorLink = (code: string, baseUrl: string): Html =>
  html`<a href="${baseUrl}/docs/errors/${code.replaceAll("_", "-")}"><code>${code}</code></a> `;

function parametersOf(id: string, data: JsonObject, document: JsonObject): Html {
  const rows = listOf(data["parameters"]).map((given) => {
    const parameter = resolve(objectOf(given), document);
    const schema = objectOf(parameter["schema"]);
    return [
      html`<code>${textOf(parameter["name"])}</code>`,
      html`${textOf(parameter["in"])}${parameter["required"] === true ? ", required" : ""}`,
      typeOf(schema),
      html`${prose(textOf(parameter["description"]))} ${describeSchema(schema)}`,
    ];
  });
  if (rows.length === 0) return html``;
  return html`<h4>Parameters</h4>${table(`Parameters of ${id}`, ["Name", "In", "Type", "Description"], rows)}`;
}

function requestOf(id: string, data: JsonObject): Html {
  const media = objectOf(objectOf(objectOf(data["requestBody"])["content"])["application/json"]);
  const schema = objectOf(media["schema"]);
  if (Object.keys(schema).length === 0) return html``;
  return html`<h4>Request body</h4><p>${typeOf(schema)}</p>${membersTable(`Request body of ${id}`, schema)}${examplesOf(media)}`;
}

function answersOf(id: string, data: JsonObject): Html {
  const answers = Object.entries(objectOf(data["responses"])).filter(([status]) => Number(status) < 400);
  return html`<h4>Response</h4>${answers.map(([status, value]) => {
    const answer = objectOf(value);
    const [[type, content] = ["", {}]] = Object.entries(objectOf(answer["content"]));
    const media = objectOf(content);
    const schema = objectOf(media["schema"]);
    const body =
      type === "" ? html`` : html` ${type === "application/json" ? typeOf(schema) : html`<code>${type}</code>`}`;
    return html`<p><strong>${status}</strong> ${textOf(answer["description"])}${body}</p>
${membersTable(`Response ${status} of ${id}`, schema)}${examplesOf(media)}`;
  })}`;
}

function examplesOf(media: JsonObject): Html {
  const many = Object.entries(objectOf(media["examples"]));
  if (many.length > 0) return html`${many.map(([, example]) => json(objectOf(example)["value"]))}`;
  return media["example"] === undefined ? html`` : json(media["example"]);
}

function shapeOf(name: string, schema: JsonObject): Html {
  return html`<article id="${name}"><h3>${name}</h3><p>${prose(textOf(schema["description"]))}</p>
${isMembers(schema) ? html`` : html`<p>${typeOf(schema)}</p>`}${membersTable(name, schema)}</article>\n`;
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
