/** Finds the places of a file at which a bug of a usual kind can be planted, as another expression for one that is there. */

import * as v from "valibot";
import { listChildren, parseProgram, SyntaxNode } from "./syntax.ts";

export const KINDS = [
  "number off by one",
  "wrong unit",
  "boundary",
  "dropped condition",
  "dropped check",
  "inverted condition",
  "not awaited",
  "missing element",
  "missing property",
  "flipped switch",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Candidate {
  readonly kind: Kind;
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
}

type Bug = readonly [kind: Kind, node: SyntaxNode, replacement: string];

export function findCandidates(file: string, code: string): readonly Candidate[] {
  return walk(parseProgram(file, code), undefined)
    .flatMap(([node, parent]) => listBugs(node, parent, code))
    .map(([kind, { start, end }, replacement]) => {
      const line = code.slice(0, start).split("\n").length;
      return { kind, file, line, start, end, original: code.slice(start, end), replacement };
    });
}

/** Types, imports and names have no bugs of these kinds, and a log line is for people. */
const SKIPPED = /^(TS(?!AsExpression|SatisfiesExpression|NonNull)|Import)/;

function walk(
  node: SyntaxNode,
  parent: SyntaxNode | undefined,
): readonly (readonly [SyntaxNode, SyntaxNode | undefined])[] {
  if (SKIPPED.test(node.type)) return [];
  return [[node, parent], ...listChildren(node, "typeAnnotation").flatMap((child) => walk(child, node))];
}

const Numeric = v.looseObject({
  type: v.literal("Literal"),
  value: v.number(),
  raw: v.pipe(v.string(), v.regex(/^\d/)),
});
const Binary = v.looseObject({
  type: v.literal("BinaryExpression"),
  operator: v.string(),
  left: SyntaxNode,
  right: SyntaxNode,
});
const Logical = v.looseObject({
  type: v.literal("LogicalExpression"),
  operator: v.picklist(["&&", "||"]),
  left: SyntaxNode,
  right: SyntaxNode,
});
const Guard = v.looseObject({
  type: v.literal("IfStatement"),
  test: SyntaxNode,
  consequent: SyntaxNode,
  alternate: v.null(),
});
const Awaited = v.looseObject({
  type: v.literal("ExpressionStatement"),
  expression: v.looseObject({ ...SyntaxNode.entries, type: v.literal("AwaitExpression"), argument: SyntaxNode }),
});
const List = v.looseObject({
  type: v.literal("ArrayExpression"),
  elements: v.pipe(v.array(SyntaxNode), v.minLength(1)),
});
const Properties = v.looseObject({
  type: v.literal("ObjectExpression"),
  properties: v.pipe(v.array(SyntaxNode), v.minLength(1)),
});
const Switch = v.looseObject({ type: v.literal("Literal"), value: v.boolean() });
const Keyed = v.looseObject({ type: v.literal("Property"), key: SyntaxNode, computed: v.literal(false) });

const BOUNDARY: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const INVERTED: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };

function listBugs(node: SyntaxNode, parent: SyntaxNode | undefined, code: string): readonly Bug[] {
  const text = ({ start, end }: SyntaxNode) => code.slice(start, end);
  const isKey = parent !== undefined && v.is(Keyed, parent) && v.parse(Keyed, parent).key.start === node.start;
  if (isKey) return [];
  if (v.is(Numeric, node)) {
    const { value, raw } = v.parse(Numeric, node);
    if (raw.endsWith("n")) return [];
    return value <= SMALL ? [["number off by one", node, `${value + 1}`]] : [["wrong unit", node, `(${raw} / 60)`]];
  }
  if (v.is(Binary, node)) {
    const { operator, left, right } = v.parse(Binary, node);
    const bug = (kind: Kind, other: string): Bug => [kind, node, `${text(left)} ${other} ${text(right)}`];
    if (BOUNDARY[operator] !== undefined) return [bug("boundary", BOUNDARY[operator])];
    return INVERTED[operator] === undefined ? [] : [bug("inverted condition", INVERTED[operator])];
  }
  if (v.is(Logical, node)) {
    const { left, right } = v.parse(Logical, node);
    return [left, right].map((kept): Bug => ["dropped condition", node, text(kept)]);
  }
  if (v.is(Guard, node)) {
    const { test, consequent } = v.parse(Guard, node);
    return /^\{?\s*(return|throw|continue)\b/.test(text(consequent)) ? [["dropped check", test, "false"]] : [];
  }
  if (v.is(Awaited, node)) {
    const { expression } = v.parse(Awaited, node);
    return [["not awaited", expression, text(expression.argument)]];
  }
  if (v.is(List, node))
    return v.parse(List, node).elements.map((one): Bug => ["missing element", node, without(node, one, code)]);
  if (v.is(Properties, node)) {
    const { properties } = v.parse(Properties, node);
    return properties.map((one): Bug => ["missing property", node, `(${without(node, one, code)})`]);
  }
  return v.is(Switch, node) ? [["flipped switch", node, `${!v.parse(Switch, node).value}`]] : [];
}

/** Larger numbers are times and sizes. */
const SMALL = 1_000;

/** The code of a list or an object without one of its members and the comma after it. */
function without(node: SyntaxNode, member: SyntaxNode, code: string): string {
  const after = code.slice(member.end, node.end).replace(/^\s*,/, "");
  return code.slice(node.start, member.start) + after;
}
