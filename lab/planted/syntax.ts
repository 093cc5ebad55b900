/** Reads the syntax tree of a file. */
import * as v from "valibot";
import { parseSync } from "vite";

export const SyntaxNode = v.looseObject({ type: v.string(), start: v.number(), end: v.number() });
export type SyntaxNode = v.InferOutput<typeof SyntaxNode>;

export function parseProgram(file: string, code: string): SyntaxNode {
  return v.parse(SyntaxNode, parseSync(file, code).program);
}

/** The nodes below a node, without those of the member `except`. */
export function listChildren(node: SyntaxNode, except?: string): readonly SyntaxNode[] {
  return Object.entries(node)
    .flatMap(([name, value]) => (name === except ? [] : [value].flat()))
    .filter((child) => v.is(SyntaxNode, child));
}
