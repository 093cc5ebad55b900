import type { ApiOperation, ApiParameter } from "./document.ts";
import { type ClientMethod, camelCase, pascalCase } from "./methods.ts";

/** Generates src/generated/resources.ts: one class for each resource, one method for each operation. */
export function emitResources(methods: readonly ClientMethod[]): string {
  const resources = groupByResource(methods);
  return [
    "// Generated from docs/openapi.json and clients/methods.json by `npm run docs`. Do not edit.",
    'import type { RequestOptions } from "../options.ts";',
    'import type { PagePromise } from "../page.ts";',
    'import { path } from "../path.ts";',
    'import type { APIPromise } from "../promise.ts";',
    'import { APIResource } from "../resource.ts";',
    'import type * as types from "./types.ts";',
    "",
    // A resource creates its sub-resources, so those come first.
    ...[...resources].sort(([a], [b]) => depth(b) - depth(a)).map(([name, own]) => emitClass(name, own, resources)),
  ].join("\n");
}

const depth = (name: string): number => name.split(".").length;

export function groupByResource(methods: readonly ClientMethod[]): Map<string, ClientMethod[]> {
  const resources = new Map<string, ClientMethod[]>();
  for (const method of methods) {
    const name = method.resource.join(".");
    resources.set(name, [...(resources.get(name) ?? []), method]);
  }
  return resources;
}

const className = (resource: string): string => resource.split(".").map(pascalCase).join("");

function emitClass(name: string, methods: readonly ClientMethod[], all: ReadonlyMap<string, unknown>): string {
  const parts = [...all.keys()]
    .filter((other) => other.startsWith(`${name}.`))
    .map((other) => `  readonly ${other.slice(name.length + 1)} = new ${className(other)}(this.transport);\n`);
  const body = [parts.join(""), ...methods.map(emitMethod)].filter((text) => text !== "").join("\n");
  return `export class ${className(name)} extends APIResource {\n${body}}\n`;
}

/** `runId: string, query?: RunsCancelParams, options?: RequestOptions`, for a page or for a program. */
export function formatParameters({ operation, query, queryRequired, body }: ClientMethod, named = plain): string[] {
  return [
    ...operation.pathParameters.map(({ name }) => `${camelCase(name)}: string`),
    ...(body === undefined ? [] : [`body: ${named(body)}`]),
    ...(query === undefined || body !== undefined ? [] : [`query${queryRequired ? "" : "?"}: ${named(query)}`]),
    query !== undefined && body !== undefined
      ? `options?: RequestOptions & { query?: ${named(query)} }`
      : "options?: RequestOptions",
  ];
}

export function formatReturnType({ response: responseType, list }: ClientMethod, named = plain): string {
  if (list === undefined) return `APIPromise<${named(responseType)}>`;
  return `PagePromise<${named(list.item ?? `${responseType}["${list.member}"][number]`)}, ${named(responseType)}>`;
}

const plain = (type: string): string => type;
/** Qualifies the types of the API, some of which have the name of a resource class. */
const qualified = (type: string): string => (/^[A-Z]/.test(type) ? `types.${type}` : type);

function emitMethod(method: ClientMethod): string {
  const { operation, name, query, fixedQuery, body, response: responseType, list } = method;
  const request = [
    `method: "${operation.method}"`,
    `path: ${formatPath(operation.path, operation.pathParameters)}`,
    ...(fixedQuery === undefined
      ? []
      : [`query: ${query === undefined ? fixedQuery : `{ ...query, ...${fixedQuery} }`}`]),
    ...(query === undefined || fixedQuery !== undefined
      ? []
      : [body === undefined ? "query" : "query: options?.query"]),
    ...(body === undefined ? [] : ["body"]),
    ...(operation.response === "text" ? ['responseType: "text"'] : []),
    "options",
  ].join(", ");
  const call =
    list === undefined
      ? `this.transport.request({ ${request} })`
      : `this.transport.page({ ${request} }, (body: ${qualified(responseType)}) => body.${list.member})`;
  return [
    "  /**",
    ...docLines(operation),
    ...(operation.deprecated ? ["   * @deprecated"] : []),
    "   */",
    `  ${name}(${formatParameters(method, qualified).join(", ")}): ${formatReturnType(method, qualified)} {`,
    `    return ${call};`,
    "  }\n",
  ].join("\n");
}

/** The summary, the rest of the description, and the request, as lines of a doc comment. */
function docLines({ method, path, summary, description }: ApiOperation): string[] {
  const details = description.slice(summary.length).trim();
  const paragraphs = [summary, ...(details === "" ? [] : [details]), `\`${method} ${path}\``];
  return paragraphs
    .flatMap((paragraph, index) => [...(index === 0 ? [] : [""]), ...wrap(paragraph.replaceAll("*/", "* /"), 115)])
    .map((line) => `   * ${line}`.trimEnd());
}

/** Splits a text into lines of at most `width` characters, between words. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function formatPath(path: string, parameters: readonly ApiParameter[]): string {
  if (parameters.length === 0) return JSON.stringify(path);
  return `path\`${path.replace(/\{(\w+)\}/g, (_, name: string) => `\${${camelCase(name)}}`)}\``;
}
