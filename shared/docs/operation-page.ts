import { ERRORS, type ErrorCode } from "#shared/errors.ts";
import { problemType } from "#shared/http/problem.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { escapeMarkdown, formatCode, formatTable } from "./markdown.ts";
import { describeSchema, formatMembers, formatType, hasMembers, type MemberContext } from "./member-tables.ts";
import {
  getRequestBody,
  isObject,
  type JsonObject,
  listExamples,
  listOperations,
  listSchemas,
  type Operation,
  resolve,
  toList,
  toObject,
  toText,
} from "./openapi.ts";
import type { Page } from "./page.ts";
import { listSamples, type SampleSources } from "./samples.ts";

/**
 * Returns the reference of an operation or of a schema, with the members of objects inline.
 * @returns nothing if the document has neither of this name
 */
export function referencePage(name: string, sources: SampleSources, baseUrl: string): Page | undefined {
  const { document } = sources;
  const context = { document, schemaUrl: (schema: string) => toReferenceUrl(schema, baseUrl) };
  const operation = listOperations(document).find(({ id }) => id === name);
  if (operation !== undefined) return operationPage(operation, sources, context, baseUrl);
  const schema = listSchemas(document).find(([one]) => one === name)?.[1];
  return schema === undefined ? undefined : schemaPage(name, schema, context);
}

/** The address of the page of an operation or a schema. */
export const toReferenceUrl = (name: string, baseUrl: string): string => `${baseUrl}/docs/reference/${name}`;

function operationPage(operation: Operation, sources: SampleSources, context: MemberContext, baseUrl: string): Page {
  const { method, path, data, id } = operation;
  const parts = [
    `# ${method} ${path}`,
    escapeMarkdown(toText(data["description"])),
    formatCallers(data),
    ...formatParameters(data, context),
    ...formatRequest(data, context),
    ...formatResponses(data, context),
    "## Call",
    ...listSamples(operation, sources, baseUrl).flatMap(({ title, language, text }) => [
      `### ${title}`,
      formatCode(language, text),
    ]),
    "## Errors",
    formatErrors(data, baseUrl),
  ];
  return { title: `${method} ${path}`, markdown: joined(parts), url: toReferenceUrl(id, baseUrl) };
}

function schemaPage(name: string, schema: JsonObject, context: MemberContext): Page {
  const users = listOperations(context.document).filter(({ data }) =>
    JSON.stringify(data).includes(`"#/components/schemas/${name}"`),
  );
  const parts = [
    `# ${name}`,
    escapeMarkdown(toText(schema["description"])),
    hasMembers(schema) ? "" : formatType(schema, context),
    formatMembers(schema, context, [`#/components/schemas/${name}`]),
    ...(users.length === 0 ? [] : ["## Operations"]),
    users.map(({ id, method, path }) => `- [${method} ${path}](${context.schemaUrl(id)})`).join("\n"),
  ];
  return { title: name, markdown: joined(parts), url: context.schemaUrl(name) };
}

const joined = (parts: readonly string[]): string => `${parts.filter((part) => part !== "").join("\n\n")}\n`;

function formatCallers(data: JsonObject): string {
  const principals = toList(data["x-principals"]).map(toText);
  if (principals.length === 0) return "Public: requires no API key.";
  const scopes = toList(data["security"]).flatMap((scheme) => toList(toObject(scheme)["bearer"]).map(toText));
  const needed = [...new Set(scopes)].map((scope) => ` Requires the scope \`${scope}\`.`).join("");
  return `Accepts ${listed(principals)} keys.${needed}`;
}

const listed = (words: readonly string[]): string => words.join(", ").replace(/, ([^,]*)$/, " and $1");

function formatParameters(data: JsonObject, context: MemberContext): readonly string[] {
  const rows = toList(data["parameters"]).map((value) => {
    const parameter = resolve(toObject(value), context.document);
    const schema = toObject(parameter["schema"]);
    return [
      `\`${toText(parameter["name"])}\`${parameter["required"] === true ? "" : "?"}`,
      toText(parameter["in"]),
      formatType(schema, context),
      `${escapeMarkdown(toText(parameter["description"]))} ${describeSchema(schema)}`.trim(),
    ];
  });
  return rows.length === 0 ? [] : ["## Parameters", formatTable(["Name", "In", "Type", "Description"], rows)];
}

function formatRequest(data: JsonObject, context: MemberContext): readonly string[] {
  const media = getRequestBody(data);
  if (!isObject(media["schema"])) return [];
  const isRequired = toObject(data["requestBody"])["required"] === true;
  const type = `${formatType(media["schema"], context)}${isRequired ? "" : ", optional"}`;
  return ["## Request body", type, formatMembers(media["schema"], context), ...formatExamples(media)];
}

function formatResponses(data: JsonObject, context: MemberContext): readonly string[] {
  const responses = Object.entries(toObject(data["responses"])).filter(([status]) => Number(status) < 400);
  return responses.flatMap(([status, value]) => {
    const response = toObject(value);
    const contents = Object.entries(toObject(response["content"]));
    return [
      `## Response ${status}`,
      toText(response["description"]),
      ...contents.flatMap(([type, content]) => {
        const media = toObject(content);
        const schema = toObject(media["schema"]);
        if (type !== "application/json") return [`\`${type}\`: ${describeSchema(schema)}`.replace(/: $/, "")];
        return [formatType(schema, context), formatMembers(schema, context), ...formatExamples(media)];
      }),
    ];
  });
}

const formatExamples = (media: JsonObject): readonly string[] =>
  listExamples(media).map((value) => formatCode("json", JSON.stringify(value, null, 2)));

/** The errors of an operation with what to do, by the statuses of its responses. */
function formatErrors(data: JsonObject, baseUrl: string): string {
  const responses = Object.entries(toObject(data["responses"])).map(
    ([status, response]) => [status, toText(toObject(response)["description"])] as const,
  );
  const rows = toList(data["x-error-codes"])
    .map(toText)
    .filter((code): code is ErrorCode => code in ERRORS)
    .map((code) => {
      const statuses = responses.filter(([, description]) => description.includes(`\`${code}\``)).map(([one]) => one);
      const { meaning, remedy } = ERROR_GUIDE[code];
      const page = problemType(baseUrl, code);
      return [statuses.join(", "), `[\`${code}\`](${page})`, escapeMarkdown(meaning), escapeMarkdown(remedy)];
    });
  return formatTable(["Status", "Code", "Meaning", "What to do"], rows);
}
