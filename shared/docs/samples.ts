import { firstExample, formatCurl, listRequiredQuery, toVariable } from "./curl.ts";
import { getRequestBody, isObject, type JsonObject, type Operation, resolve, toObject } from "./openapi.ts";

/** What the examples of calls are made from. */
export interface SampleSources {
  readonly document: JsonObject;
  /** The methods of the clients by operationId, as `resource.method` in snake_case: clients/methods.json. */
  readonly methods: Readonly<Record<string, string | undefined>>;
  /** An example of the command line by operationId: docs/cli-operations.json. */
  readonly commands: Readonly<Record<string, string | undefined>>;
}

export interface Sample {
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

/** Returns the calls of an operation by curl, the clients and, where a command makes it, the command line. */
export function listSamples(operation: Operation, sources: SampleSources, baseUrl: string): readonly Sample[] {
  const method = sources.methods[operation.id];
  const command = sources.commands[operation.id];
  return [
    { title: "curl", language: "sh", text: formatCurl(operation, sources.document, baseUrl) },
    ...(method === undefined
      ? []
      : [
          { title: "TypeScript", language: "ts", text: formatTypeScript(operation, sources.document, method) },
          { title: "Python", language: "python", text: formatPython(operation, sources.document, method) },
        ]),
    ...(command === undefined ? [] : [{ title: "Command line", language: "sh", text: command }]),
  ];
}

function formatTypeScript(operation: Operation, document: JsonObject, method: string): string {
  const body = firstExample(operation.data);
  const query = Object.fromEntries(
    listRequiredQuery(operation.data, document).map((name) => [toCamelCase(name), toVariable(name)]),
  );
  const hasQuery = Object.keys(query).length > 0;
  const values = [
    ...listPathNames(operation.path).map((name) => JSON.stringify(toVariable(name))),
    ...(body === undefined ? [] : [toLiteral(body)]),
    ...(hasQuery ? [toLiteral(body === undefined ? query : { query })] : []),
  ];
  const call = `client.${toCamelCase(method)}(${values.join(", ")})`;
  return `import { Runyard } from "runyard";\n\nconst client = new Runyard();\nconsole.log(await ${call});`;
}

function formatPython(operation: Operation, document: JsonObject, method: string): string {
  const body = firstExample(operation.data);
  const members = isObject(body) ? Object.entries(body) : [];
  // The methods have no parameters for the members of alternatives, which depend on each other.
  const isUnion = body !== undefined && findBodySchema(operation, document)["properties"] === undefined;
  const values = [
    ...listPathNames(operation.path).map((name) => JSON.stringify(toVariable(name))),
    ...listRequiredQuery(operation.data, document).map((name) => `${name}=${JSON.stringify(toVariable(name))}`),
    ...(isUnion ? [`extra_body=${toPython(body, "    ")}`] : []),
    ...(isUnion ? [] : members).map(([name, value]) => `${name}=${toPython(value, "    ")}`),
  ];
  const oneLine = values.join(", ");
  const list = oneLine.length < 60 ? oneLine : `\n${values.map((value) => `    ${value},\n`).join("")}`;
  return `from runyard import Runyard\n\nclient = Runyard()\nprint(client.${method}(${list}))`;
}

const findBodySchema = ({ data }: Operation, document: JsonObject): JsonObject =>
  resolve(toObject(getRequestBody(data)["schema"]), document);

const listPathNames = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

const toCamelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** JSON as a literal of TypeScript, with names without quotes. */
const toLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^( *)"([A-Za-z_]\w*)": /gm, "$1$2: ");

function toPython(value: unknown, indent: string): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((item) => toPython(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${toPython(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const oneLine = `${open}${items.join(", ")}${close}`;
  if (oneLine.length < 60 && !oneLine.includes("\n")) return oneLine;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
