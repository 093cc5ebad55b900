import { type Html, html, json, page, paragraphs, prose, table } from "./html.ts";
import {
  describeSchema,
  isMembers,
  isObject,
  type JsonObject,
  membersTable,
  renderType,
  resolve,
  toText,
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
  const operations = listOperations(document);
  const tags = toList(document["tags"]).filter(isObject);
  const info = toObject(document["info"]);
  const body = html`<header>
<h1>${toText(info["title"])} API reference</h1>
<p>Version ${toText(info["version"])} · base URL <code>${baseUrl}</code> · <a href="${baseUrl}/openapi.json">OpenAPI document</a> ·
<a href="${baseUrl}/docs/errors">errors</a></p>
</header>
<nav aria-label="Contents"><h2>Contents</h2>
${tags.map((tag) => renderContents(tag, operations))}
<h3>Schemas</h3><ul>${listSchemas(document).map(([name]) => html`<li><a href="#${name}">${name}</a></li>\n`)}</ul></nav>
<main id="main">
<section><h2>Getting started</h2>${paragraphs(toText(info["description"]))}
<pre tabindex="0"><code>${firstCall(baseUrl)}</code></pre></section>
${tags.map((tag) => renderSection(tag, operations, document, baseUrl))}
<section><h2>Schemas</h2>
${listSchemas(document).map(([name, schema]) => renderSchema(name, schema))}</section>
</main>`;
  return page(`${toText(info["title"])} API reference`, body);
}

const firstCall = (baseUrl: string): string =>
  `curl ${baseUrl}/agent/runs \\\n  -H "Authorization: Bearer $RUNYARD_API_KEY" -H "Content-Type: application/json" \\\n` +
  `  -H "Idempotency-Key: my-first-run" \\\n  -d '{"prompt": "Say hello.\\n\\n\`\`\`sh\\necho hello\\n\`\`\`"}'`;

function listOperations(document: JsonObject): readonly Operation[] {
  return Object.entries(toObject(document["paths"])).flatMap(([path, item]) =>
    Object.entries(toObject(item)).map(([method, value]) => {
      const data = toObject(value);
      const [tag] = toList(data["tags"]);
      return { method: method.toUpperCase(), path, id: toText(data["operationId"]), tag: toText(tag), data };
    }),
  );
}

const listSchemas = (document: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(toObject(toObject(document["components"])["schemas"])).map(([name, schema]) => [
    name,
    toObject(schema),
  ]);

function renderContents(tag: JsonObject, operations: readonly Operation[]): Html {
  const name = toText(tag["name"]);
  return html`<h3>${name}</h3><ul>${operations
    .filter((operation) => operation.tag === name)
    .map(({ id, method, path }) => html`<li><a href="#${id}"><code>${method} ${path}</code></a></li>\n`)}</ul>`;
}

function renderSection(tag: JsonObject, operations: readonly Operation[], document: JsonObject, baseUrl: string): Html {
  const name = toText(tag["name"]);
  return html`<section><h2>${name}</h2><p>${prose(toText(tag["description"]))}</p>
${operations.filter((operation) => operation.tag === name).map((operation) => renderArticle(operation, document, baseUrl))}</section>`;
}

function renderArticle({ id, method, path, data }: Operation, document: JsonObject, baseUrl: string): Html {
  const principals = toList(data["x-principals"]).map(toText);
  const scopes = toList(data["security"]).flatMap((scheme) => toList(toObject(scheme)["bearer"]).map(toText));
  const needed = scopes.map((scope) => ` Requires the scope \`${scope}\`.`).join("");
  const callers =
    principals.length === 0 ? "Public: requires no API key." : `Accepts ${listed(principals)} keys.${needed}`;
  return html`<article id="${id}"><h3><code>${method} ${path}</code></h3>
<p>${prose(`${toText(data["description"])} ${callers}`)}</p>
${renderParameters(id, data, document)}${renderRequest(id, data)}${renderResponses(id, data)}
<h4>Errors</h4>
<p>${toList(data["x-error-codes"]).map((code) => errorLink(toText(code), baseUrl))}</p></article>\n`;
}

const listed = (words: readonly string[]): string => words.join(", ").replace(/, ([^,]*)$/, " and $1");

const errorLink = (code: string, baseUrl: string): Html =>
  html`<a href="${baseUrl}/docs/errors/${code.replaceAll("_", "-")}"><code>${code}</code></a> `;

function renderParameters(id: string, data: JsonObject, document: JsonObject): Html {
  const rows = toList(data["parameters"]).map((given) => {
    const parameter = resolve(toObject(given), document);
    const schema = toObject(parameter["schema"]);
    return [
      html`<code>${toText(parameter["name"])}</code>`,
      html`${toText(parameter["in"])}${parameter["required"] === true ? ", required" : ""}`,
      renderType(schema),
      html`${prose(toText(parameter["description"]))} ${describeSchema(schema)}`,
    ];
  });
  if (rows.length === 0) return html``;
  return html`<h4>Parameters</h4>${table(`Parameters of ${id}`, ["Name", "In", "Type", "Description"], rows)}`;
}

function renderRequest(id: string, data: JsonObject): Html {
  const media = toObject(toObject(toObject(data["requestBody"])["content"])["application/json"]);
  const schema = toObject(media["schema"]);
  if (Object.keys(schema).length === 0) return html``;
  return html`<h4>Request body</h4><p>${renderType(schema)}</p>${membersTable(`Request body of ${id}`, schema)}${renderExamples(media)}`;
}

function renderResponses(id: string, data: JsonObject): Html {
  const responses = Object.entries(toObject(data["responses"])).filter(([status]) => Number(status) < 400);
  return html`<h4>Response</h4>${responses.map(([status, value]) => {
    const response = toObject(value);
    const [[type, content] = ["", {}]] = Object.entries(toObject(response["content"]));
    const media = toObject(content);
    const schema = toObject(media["schema"]);
    const body =
      type === "" ? html`` : html` ${type === "application/json" ? renderType(schema) : html`<code>${type}</code>`}`;
    return html`<p><strong>${status}</strong> ${toText(response["description"])}${body}</p>
${membersTable(`Response ${status} of ${id}`, schema)}${renderExamples(media)}`;
  })}`;
}

function renderExamples(media: JsonObject): Html {
  const many = Object.entries(toObject(media["examples"]));
  if (many.length > 0) return html`${many.map(([, example]) => json(toObject(example)["value"]))}`;
  return media["example"] === undefined ? html`` : json(media["example"]);
}

function renderSchema(name: string, schema: JsonObject): Html {
  return html`<article id="${name}"><h3>${name}</h3><p>${prose(toText(schema["description"]))}</p>
${isMembers(schema) ? html`` : html`<p>${renderType(schema)}</p>`}${membersTable(name, schema)}</article>\n`;
}

const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
