/** Finds the blocks of a file, and makes each note that it runs. */
import { createHash } from "node:crypto";
import * as v from "valibot";
import { listChildren, parseProgram, SyntaxNode } from "./syntax.ts";

export interface Block {
  /** Names the block by its code, so that it keeps its name while other code of the file changes. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** An expression is all that the body of an arrow function is. */
  readonly expression: boolean;
}

const Arrow = v.looseObject({ type: v.literal("ArrowFunctionExpression"), body: SyntaxNode });

/** Blocks of statements and bodies of arrow functions, after the file itself, which is the block around all of them. */
export function findBlocks(file: string, code: string): readonly Block[] {
  const whole: Block = { key: toFileKey(file), start: 0, end: code.length, expression: false };
  return [whole, ...walk(parseProgram(file, code)).map(toBlock)];

  function toBlock(node: SyntaxNode): Block {
    const hash = createHash("sha256").update(code.slice(node.start, node.end)).digest("hex").slice(0, 12);
    const { start, end } = node;
    return { key: `${file}#${hash}`, start, end, expression: node.type !== "BlockStatement" };
  }
}

export function toFileKey(file: string): string {
  return `${file}#`;
}

/** The blocks around a place, the innermost first. */
export function findBlocksAround(file: string, code: string, start: number, end: number): readonly Block[] {
  const around = findBlocks(file, code).filter((block) => block.start <= start && end <= block.end);
  return around.toSorted((one, other) => one.end - one.start - (other.end - other.start));
}

function walk(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type.startsWith("TSType") || node.type.startsWith("TSInterface")) return [];
  const body = v.is(Arrow, node) ? v.parse(Arrow, node).body : undefined;
  const own = node.type === "BlockStatement" ? [node] : [];
  const expression = body !== undefined && body.type !== "BlockStatement" ? [body] : [];
  return [...own, ...expression, ...listChildren(node).flatMap(walk)];
}

/** The code with a call of `hook.mjs` in each block. A process that cannot load that file, or is no Node, runs the code as it was. */
export function instrument(code: string, blocks: readonly Block[], hook: string): string {
  const inserted = blocks.flatMap(({ key, start, end, expression }): readonly (readonly [number, string])[] => {
    const call = `globalThis.__reached?.(${JSON.stringify(key)})`;
    if (key.endsWith("#")) return [[end, `\n${call};\n`]];
    return expression
      ? [
          [start, `(${call}, `],
          [end, ")"],
        ]
      : [[start + 1, `${call};`]];
  });
  const load = `globalThis.process?.getBuiltinModule?.("node:module").createRequire("/")(${JSON.stringify(hook)}).note`;
  const first = code.startsWith("#!") ? code.indexOf("\n") + 1 : 0;
  const all = [...inserted, [first, `try { globalThis.__reached ??= ${load}; } catch {}\n`] as const];
  return all
    .toSorted(([one], [other]) => other - one)
    .reduce((text, [at, added]) => text.slice(0, at) + added + text.slice(at), code);
}
