import { type ApiDocument, isObject } from "./document.ts";

/** Lists whose names do not follow from the names of their types. */
const NAMES: Readonly<Record<string, string>> = { RunSourceType: "RUN_SOURCES", TaskStatus: "TASK_STATUSES" };
const HEADER = "// Generated from docs/openapi.json by `npm run docs`. Do not edit.\n";

/**
 * Generates the values of each enumeration of the API, such as `RUN_STATES` of `RunState`, and src/generated/lists.ts, which exports
 * them all. Each list has a file, so that a page of a web app loads those that it uses.
 */
export function emitLists({ schemas }: ApiDocument): Readonly<Record<string, string>> {
  const files = Object.entries(schemas).flatMap(([type, schema]) => {
    if (!isObject(schema) || !Array.isArray(schema["enum"])) return [];
    const name = toListName(type);
    const values = schema["enum"].map((value) => `  ${JSON.stringify(value)},\n`).join("");
    const text = `${HEADER}/** The values of \`${type}\`. */\nexport const ${name} = [\n${values}] as const;\n`;
    return [{ name, file: `${name.toLowerCase().replaceAll("_", "-")}.ts`, text }];
  });
  const all = files.map(({ name, file }) => `export { ${name} } from "./lists/${file}";\n`).join("");
  return {
    "src/generated/lists.ts": `${HEADER}${all}`,
    ...Object.fromEntries(files.map(({ file, text }) => [`src/generated/lists/${file}`, text])),
  };
}

function toListName(type: string): string {
  const words = type.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return NAMES[type] ?? (words.endsWith("Y") ? `${words.slice(0, -1)}IES` : `${words}S`);
}
