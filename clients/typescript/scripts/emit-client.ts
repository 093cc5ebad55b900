import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ApiDocument } from "./document.ts";
import { type ClientMethod, pascalCase } from "./methods.ts";

/** Generates src/generated/client.ts: the object with all resources, including the hand-written ones of src/resources. */
export function emitClient(methods: readonly ClientMethod[], { tags }: ApiDocument): string {
  const resources = new Map<string, string>();
  for (const { resource, operation } of methods) {
    const [name = ""] = resource;
    if (!resources.has(name)) resources.set(name, tags[operation.tag] ?? "");
  }
  const all = [...resources];
  const isByHand = (name: string): boolean => existsSync(join(import.meta.dirname, `../src/resources/${name}.ts`));
  const generated = all.filter(([name]) => !isByHand(name)).map(([name]) => pascalCase(name));
  return [
    "// Generated from docs/openapi.json and clients/methods.json by `npm run docs`. Do not edit.",
    ...all
      .filter(([name]) => isByHand(name))
      .map(([name]) => emitImport([pascalCase(name)], `../resources/${name}.ts`)),
    'import type { Transport } from "../transport.ts";',
    emitImport(generated.sort(), "./resources.ts"),
    "",
    "/** All operations of the API, by resource. */",
    "export class ApiResources {",
    ...all.map(([name, text]) => `${text === "" ? "" : `  /** ${text} */\n`}  readonly ${name}: ${pascalCase(name)};`),
    "",
    "  constructor(transport: Transport) {",
    ...all.map(([name]) => `    this.${name} = new ${pascalCase(name)}(transport);`),
    "  }",
    "}",
    "",
  ].join("\n");
}

const emitImport = (names: readonly string[], file: string): string => `import { ${names.join(", ")} } from "${file}";`;
