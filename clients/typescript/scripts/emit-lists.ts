import { type ApiDocument, isObject } from "./document.ts";

/** Lists whose names do not follow from the names of their types. */
const NAMES: Readonly<Record<string, string>> = { RunSourceType: "RUN_SOURCES" };

/** Generates src/generated/lists.ts: the values of each enumeration of the API, such as `RUN_STATES` of `RunState`. */
export function emitLists({ schemas }: ApiDocument): string {
  const lists = Object.entries(schemas).flatMap(([type, schema]) => {
    if (!isObject(schema) || !Array.isArray(schema["enum"])) return [];
    const values = schema["enum"].map((value) => `  ${JSON.stringify(value)},\n`).join("");
    return [`/** The values of {@link ${type}}. */\nexport const ${listName(type)} = [\n${values}] as const;\n`];
  });
  return `// Generated from docs/openapi.json by \`npm run clients:generate\`. Do not edit.\n${lists.join("\n")}`;
}

function listName(type: string): string {
  const words = type.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return NAMES[type] ?? (words.endsWith("Y") ? `${words.slice(0, -1)}IES` : `${words}S`);
}
