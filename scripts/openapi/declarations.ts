import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "../run-command.ts";

/** A node of a syntax tree, with its position in the file. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

/** A constant at the top of a file. */
export interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly value: SyntaxNode;
  /** The documentation comment above it. */
  readonly comment: string | undefined;
}

interface SourceFile {
  /** Documentation comments by the position of what they precede. */
  readonly comments: ReadonlyMap<number, string>;
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** The file and the name there of each imported name. */
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const files = new Map<string, SourceFile>();

/** Parses a file of the repository once. `path` is relative to the root. */
export function readSource(path: string): SourceFile {
  const known = files.get(path) ?? parse(path);
  files.set(path, known);
  return known;
}

/** Finds what a name stands for in a file: a constant there, or one that it imports from a file of the repository. */
export function findDeclaration(path: string, name: string): Declaration | undefined {
  const { declarations, imports } = readSource(path);
  const imported = imports.get(name);
  return declarations.get(name) ?? (imported && findDeclaration(imported.file, imported.name));
}

function parse(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const documented = new Map<number, string>();
  for (const { type, value, end } of comments) {
    const next = end + text.slice(end).search(/\S|$/);
    if (type === "Block" && value.startsWith("*")) documented.set(next, value.slice(1));
  }
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, { file: string; name: string }>();
  for (const statement of program.body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type === "VariableDeclaration") {
      for (const { id, init } of declared.declarations) {
        if (!isNode(init)) continue;
        for (const name of boundNames(id)) {
          declarations.set(name, { file: path, name, value: init, comment: documented.get(statement.start) });
        }
      }
    }
    if (declared?.type === "FunctionDeclaration" && declared.id && isNode(declared.body)) {
      const { name } = declared.id;
      declarations.set(name, { file: path, name, value: declared.body, comment: documented.get(statement.start) });
    }
    if (statement.type === "ImportDeclaration") {
      const file = toFile(path, statement.source.value);
      if (file === undefined) continue;
      for (const each of statement.specifiers) {
        if (each.type === "ImportSpecifier" && each.imported.type === "Identifier") {
          imports.set(each.local.name, { file, name: each.imported.name });
        }
      }
    }
  }
  return { comments: documented, declarations, imports };
}

/** The names that a declaration gives: one, or those of a pattern. */
function boundNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return [];
  if (pattern.type === "Identifier") return [String(pattern["name"])];
  if (pattern.type === "Property") return boundNames(pattern["value"]);
  if (pattern.type === "RestElement") return boundNames(pattern["argument"]);
  return pattern.type === "ObjectPattern" ? [pattern["properties"]].flat().flatMap(boundNames) : [];
}

function toFile(from: string, specifier: string): string | undefined {
  if (specifier.startsWith("#")) return specifier.slice(1);
  return specifier.startsWith(".") ? relative(root, join(root, dirname(from), specifier)) : undefined;
}

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value;
