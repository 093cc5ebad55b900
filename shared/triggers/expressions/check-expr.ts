import { ARITHMETIC, COMPARISONS, type Expr, FUNCTIONS, KINDS, type Kind, LOGIC, TYPE_NAMES } from "./kinds.ts";

/** Operations of one expression with those of its macros, and how deeply they may be nested. */
const MAX_OPERATIONS = 1000;
const MAX_DEPTH = 100;

const AUTHOR = ["id", "name", "kind"];
const TEXTS = ["type", "action", "text", "repository", "thread"];
const MEMBERS = [...TEXTS.slice(0, 3), "author", ...TEXTS.slice(3), "payload"];

/** Why an expression is refused; the offset is that of a character in it. */
export class Refusal extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const refusal = ({ offset }: Place, message: string): Refusal => new Refusal(offset, message);

interface Check {
  /** Where the nodes are, by their id. */
  readonly positions: Readonly<Record<string, number>>;
  readonly isPattern: (text: string) => boolean;
  /** Nodes seen so far. */
  operations: number;
}

interface Place {
  readonly check: Check;
  readonly offset: number;
  readonly depth: number;
  /** The variables of the comprehensions around it. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Refuses an expression that names something unknown, whose operands cannot have the kinds of its operators, or whose result is
 * certainly of another kind than `wanted`. What a payload contains is known at the evaluation only.
 * @throws Refusal
 */
export function checkExpr(
  root: Expr,
  positions: Readonly<Record<string, number>>,
  wanted: Kind,
  isPattern: (text: string) => boolean,
): void {
  const start: Place = { offset: 0, depth: 0, variables: new Set(), check: { positions, isPattern, operations: 0 } };
  walk(root, start);
  if (!canBe(root, wanted, start.variables)) throw refusal(start, `the result is no ${wanted}`);
}

const find = (expr: Expr, place: Place): Place => ({
  ...place,
  // The nodes of a macro have no place of their own.
  offset: place.check.positions[String(expr.id)] ?? place.offset,
});

function requireKind(expr: Expr | undefined, kinds: readonly Kind[], place: Place): void {
  if (expr === undefined || canBeOne(expr, kinds, place.variables)) return;
  throw refusal(find(expr, place), `must be ${kinds.join(" or ")}`);
}

function walk(expr: Expr | undefined, above: Place): void {
  if (expr === undefined) return;
  above.check.operations++;
  const place = { ...find(expr, above), depth: above.depth + 1 };
  if (above.check.operations > MAX_OPERATIONS) throw refusal(place, `must have at most ${MAX_OPERATIONS} operations`);
  if (place.depth > MAX_DEPTH) throw refusal(place, `must be nested at most ${MAX_DEPTH} levels deep`);
  const { exprKind: kind } = expr;
  if (kind.case === "identExpr") walkName(kind.value.name, place);
  if (kind.case === "selectExpr") walkMember(expr, kind.value.operand, place);
  if (kind.case === "listExpr") for (const element of kind.value.elements) walk(element, place);
  if (kind.case === "callExpr") walkCall(expr, kind.value, place);
  if (kind.case === "comprehensionExpr") walkComprehension(kind.value, place);
  if (kind.case !== "structExpr") return;
  if (kind.value.messageName !== "") throw refusal(place, "messages are not supported");
  for (const { keyKind, value } of kind.value.entries) {
    if (keyKind.case === "mapKey") walk(keyKind.value, place);
    walk(value, place);
  }
}

function walkName(name: string, place: Place): void {
  if (name === "event" || place.variables.has(name) || TYPE_NAMES.includes(name)) return;
  throw refusal(place, `unknown name ${name}; values are members of event`);
}

function walkMember(expr: Expr, operand: Expr | undefined, place: Place): void {
  walk(operand, place);
  const [first, second, third] = readPath(expr, place.variables) ?? [];
  if (first !== undefined && !MEMBERS.includes(first)) {
    throw refusal(place, `event has no member ${first}; it has ${MEMBERS.join(", ")}`);
  }
  if (first === "author" && second !== undefined && !AUTHOR.includes(second)) {
    throw refusal(place, `event.author has no member ${second}; it has ${AUTHOR.join(", ")}`);
  }
  const below = first === "author" ? third : second;
  if (first !== "payload" && below !== undefined) throw refusal(place, "a string has no members");
  requireKind(operand, ["map"], place);
}

function walkCall(expr: Expr, { function: name, target, args }: Call, place: Place): void {
  walk(target, place);
  for (const arg of args) walk(arg, place);
  const [left, right] = args;
  const both = COMPARISONS.get(name) ?? ARITHMETIC.get(name);
  if (both !== undefined) {
    const fits = both.some((kind) => args.every((arg) => canBe(arg, kind, place.variables)));
    if (!fits) throw refusal(place, `the operands of ${toSymbol(name)} are of kinds that do not fit`);
  } else if (LOGIC.includes(name)) {
    for (const arg of args) requireKind(arg, ["bool"], place);
  } else if (name === "_?_:_") requireKind(left, ["bool"], place);
  else if (name === "@in") requireKind(right, ["list", "map"], place);
  else if (name !== "_[_]") walkFunction(name, target, args, place);
  else if (readPath(expr, place.variables) !== undefined) walkMember(expr, left, place);
  else requireKind(left, ["list", "map"], place);
}

function walkFunction(name: string, target: Expr | undefined, args: readonly Expr[], place: Place): void {
  const signatures = FUNCTIONS.get(name);
  if (signatures === undefined) throw refusal(place, `unknown function ${name}`);
  const signature = signatures.find(
    (one) =>
      (one.target === undefined) === (target === undefined) &&
      args.length <= one.args.length &&
      args.length >= one.args.length - (one.optional ?? 0),
  );
  if (signature === undefined) throw refusal(place, `${name} is called with other arguments`);
  if (signature.target !== undefined) requireKind(target, signature.target, place);
  for (const [index, arg] of args.entries()) requireKind(arg, signature.args[index] ?? KINDS, place);
  const pattern = name === "matches" ? args[0] : undefined;
  const text = pattern === undefined ? undefined : readText(pattern);
  if (pattern !== undefined && text !== undefined && !place.check.isPattern(text)) {
    throw refusal(find(pattern, place), "must be a regular expression of RE2");
  }
}

function walkComprehension(comprehension: Comprehension, place: Place): void {
  const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = comprehension;
  requireKind(iterRange, ["list", "map"], place);
  walk(iterRange, place);
  walk(accuInit, place);
  const variables = new Set([...place.variables, iterVar, iterVar2, accuVar]);
  for (const expr of [loopCondition, loopStep, result]) walk(expr, { ...place, variables });
}

type Call = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];
type Comprehension = Extract<Expr["exprKind"], { case: "comprehensionExpr" }>["value"];

/** An operator as it is written: the parser names it with a line for each operand. */
const toSymbol = (name: string): string => name.replaceAll("_", "");

/** The text of a literal; undefined for every other expression. */
function readText({ exprKind: kind }: Expr): string | undefined {
  if (kind.case !== "constExpr" || kind.value.constantKind.case !== "stringValue") return undefined;
  return kind.value.constantKind.value;
}

/** The names of a member of the event, such as `payload`, `id`; undefined for every other expression. */
function readPath({ exprKind: kind }: Expr, variables: ReadonlySet<string>): readonly string[] | undefined {
  if (kind.case === "identExpr") return kind.value.name === "event" && !variables.has("event") ? [] : undefined;
  if (kind.case === "selectExpr") return join(kind.value.operand, kind.value.field, variables);
  if (kind.case !== "callExpr" || kind.value.function !== "_[_]") return undefined;
  const [operand, index] = kind.value.args;
  return join(operand, index && readText(index), variables);
}

function join(operand: Expr | undefined, name: string | undefined, variables: ReadonlySet<string>) {
  const path = operand && readPath(operand, variables);
  return path === undefined || name === undefined ? undefined : [...path, name];
}

const canBeOne = (expr: Expr, kinds: readonly Kind[], variables: ReadonlySet<string>): boolean =>
  kinds.some((kind) => canBe(expr, kind, variables));

const CONSTANTS: Readonly<Record<string, Kind>> = {
  nullValue: "null",
  boolValue: "bool",
  int64Value: "number",
  uint64Value: "number",
  doubleValue: "number",
  stringValue: "string",
  bytesValue: "bytes",
};

/** Whether the value of an expression can be of a kind. */
function canBe(expr: Expr, wanted: Kind, variables: ReadonlySet<string>): boolean {
  const { exprKind: kind } = expr;
  if (kind.case === "constExpr") return CONSTANTS[kind.value.constantKind.case ?? ""] === wanted;
  if (kind.case === "listExpr") return wanted === "list";
  if (kind.case === "structExpr") return wanted === "map";
  if (kind.case === "comprehensionExpr") return canComprehensionBe(kind.value, wanted, variables);
  if (kind.case === "selectExpr" && kind.value.testOnly) return wanted === "bool";
  const path = readPath(expr, variables);
  if (path !== undefined) return canMemberBe(path, wanted);
  if (kind.case === "callExpr") return canCallBe(kind.value, wanted, variables);
  if (kind.case !== "identExpr" || variables.has(kind.value.name)) return true;
  return wanted === "type";
}

function canMemberBe([first, second]: readonly string[], wanted: Kind): boolean {
  if (first === undefined || (second === undefined && (first === "payload" || first === "author"))) {
    return wanted === "map";
  }
  return first === "payload" || wanted === "string";
}

/** The result of a macro is the variable that it collects, which keeps the kind that it begins with, or is computed from it. */
function canComprehensionBe(
  { accuVar, accuInit, iterVar, result }: Comprehension,
  wanted: Kind,
  variables: ReadonlySet<string>,
): boolean {
  if (result === undefined || accuInit === undefined) return true;
  const isCollected = result.exprKind.case === "identExpr" && result.exprKind.value.name === accuVar;
  return isCollected
    ? canBe(accuInit, wanted, variables)
    : canBe(result, wanted, new Set([...variables, accuVar, iterVar]));
}

function canCallBe({ function: name, args }: Call, wanted: Kind, variables: ReadonlySet<string>): boolean {
  if (COMPARISONS.has(name) || LOGIC.includes(name) || name === "@in") return wanted === "bool";
  const kinds = ARITHMETIC.get(name);
  if (kinds !== undefined) return kinds.includes(wanted) && args.every((arg) => canBe(arg, wanted, variables));
  if (name === "_?_:_") return args.slice(1).every((arg) => canBe(arg, wanted, variables));
  const signatures = FUNCTIONS.get(name);
  return signatures === undefined || signatures.some(({ result = wanted }) => result === wanted);
}
