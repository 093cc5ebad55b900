import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import { checkExpr, Refusal } from "./check-expr.ts";
import type { Expr } from "./kinds.ts";
import type { ExpressionMember, Outcome, Problem } from "./task.ts";

const RESULTS = { filter: "bool", thread_key: "string" } as const;

/** Checks an expression of a trigger; undefined for one without errors. */
export function checkExpression(member: ExpressionMember, expression: string): Problem | undefined {
  const parsed = parseExpression(expression);
  if ("message" in parsed) return parsed;
  const at = (offset: number, message: string): Problem => {
    const before = expression.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1) ?? "").length + 1, message };
  };
  try {
    checkExpr(parsed.expr, parsed.positions, RESULTS[member], isPattern);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return at(error.offset, error.message);
    if (error instanceof RangeError) return at(0, TOO_DEEP);
    throw error;
  }
}

/** Evaluates an expression that was checked. */
export function evaluate(member: ExpressionMember, expression: string, event: CelInput): Outcome {
  try {
    const value = plan(celEnv(), parse(expression).expr)({ event });
    if (isCelError(value)) return { error: value.message };
    if (member === "filter" && typeof value === "boolean") return { value };
    if (member === "thread_key" && typeof value === "string") return { value };
    return { error: `the result is no ${RESULTS[member]}` };
  } catch (error) {
    return { error: error instanceof Error ? error.message : "the evaluation failed" };
  }
}

const TOO_DEEP = "is nested too deeply";

interface Parsed {
  readonly expr: Expr;
  readonly positions: Readonly<Record<string, number>>;
}

function parseExpression(expression: string): Parsed | Problem {
  try {
    const { expr, sourceInfo } = parse(expression);
    return { expr, positions: sourceInfo?.positions ?? {} };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof RangeError) return { line: 1, column: 1, message: TOO_DEEP };
    const [, line = "1", column = "1", message = error.message] =
      /^<input>:(\d+):(\d+): (.*)$/s.exec(error.message) ?? [];
    return { line: Number(line), column: Number(column), message };
  }
}

/** Whether a text is a regular expression of the language. */
function isPattern(text: string): boolean {
  const value = plan(celEnv(), parse("''.matches(pattern)").expr)({ pattern: text });
  return !isCelError(value);
}
