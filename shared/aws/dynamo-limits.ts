import * as v from "valibot";
import { measureBytes, refuseUnstorable } from "#shared/table/limits.ts";
import { INDEXES, type Item, type Value } from "#shared/table/table.ts";
import { memberOf } from "./middleware.ts";

/** Actions of one transaction. */
const TRANSACTION_ITEMS = 100;
/** Bytes of all items of one transaction. */
const TRANSACTION_BYTES = 4 * 1024 * 1024;
/** Keys of one BatchGetItem. */
const BATCH_KEYS = 100;
/** Requests of one BatchWriteItem. */
const BATCH_WRITES = 25;
/** Bytes of one expression. */
const EXPRESSION_BYTES = 4 * 1024;

const Attributes = v.record(v.string(), v.unknown());
const Action = v.looseObject({
  Item: v.exactOptional(Attributes),
  Key: v.exactOptional(Attributes),
  UpdateExpression: v.exactOptional(v.string()),
  ConditionExpression: v.exactOptional(v.string()),
  FilterExpression: v.exactOptional(v.string()),
  KeyConditionExpression: v.exactOptional(v.string()),
  IndexName: v.exactOptional(v.string()),
  ExpressionAttributeNames: v.exactOptional(v.record(v.string(), v.string())),
});
type Action = v.InferOutput<typeof Action>;
const TransactItems = v.array(v.record(v.string(), Action));

/**
 * Returns DynamoDB's message for a call that it would refuse; undefined for any other. `input` is the request's body as
 * sent.
 */
export function findDynamoRefusal(command: string, input: unknown): string | undefined {
  try {
    return findComplaint(command, input);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return error.message;
    throw error;
  }
}

function findComplaint(command: string, input: unknown): string | undefined {
  switch (command) {
    case "BatchGetItem": {
      const keys = Object.values(v.parse(Attributes, memberOf(input, "RequestItems"))).flatMap((table) =>
        v.parse(v.array(Attributes), memberOf(table, "Keys")),
      );
      if (keys.length > BATCH_KEYS) return "Too many items requested for the BatchGetItem call";
      return first(keys, (Key) => findActionComplaint({ Key }));
    }
    case "BatchWriteItem": {
      const requests = Object.values(v.parse(Attributes, memberOf(input, "RequestItems"))).flat();
      if (requests.length > BATCH_WRITES) return "Too many items requested for the BatchWriteItem call";
      return first(requests, (request) => findActionComplaint(v.parse(Action, memberOf(request, "PutRequest") ?? {})));
    }
    case "TransactWriteItems": {
      const actions = v.parse(TransactItems, memberOf(input, "TransactItems")).flatMap((entry) => Object.values(entry));
      if (actions.length > TRANSACTION_ITEMS) {
        return `Member must have length less than or equal to ${TRANSACTION_ITEMS}: transactItems has ${actions.length}`;
      }
      const bytes = actions.reduce(
        (sum, { Item }) => sum + (Item === undefined ? 0 : measureBytes(plain({ M: Item }))),
        0,
      );
      if (bytes > TRANSACTION_BYTES) return `The items of a transaction have at most 4 MB together, not ${bytes} bytes`;
      return first(actions, findActionComplaint);
    }
    default:
      return findActionComplaint(v.parse(Action, input));
  }
}

function findActionComplaint(action: Action): string | undefined {
  const { Item, Key, UpdateExpression, FilterExpression, ExpressionAttributeNames: names = {} } = action;
  if (Item !== undefined) refuseUnstorable(toItem(Item));
  if (Key !== undefined) refuseUnstorable(toItem(Key));
  const expressions = [UpdateExpression, FilterExpression, action.ConditionExpression, action.KeyConditionExpression];
  for (const expression of expressions) {
    const bytes = Buffer.byteLength(expression ?? "");
    if (bytes > EXPRESSION_BYTES) {
      return `Expression size has exceeded the maximum allowed size; expression size: ${bytes}`;
    }
  }
  if (UpdateExpression !== undefined) return findUpdateComplaint(UpdateExpression, names);
  if (FilterExpression === undefined) return undefined;
  const keys = listKeyAttributes(action.IndexName);
  const key = namesIn(FilterExpression, names).find((name) => keys.includes(name));
  return key === undefined
    ? undefined
    : `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key}`;
}

function findUpdateComplaint(expression: string, names: Readonly<Record<string, string>>): string | undefined {
  const paths = parsePaths(expression, names);
  const key = paths.find(([attribute = ""]) => listKeyAttributes(undefined).includes(attribute));
  if (key !== undefined) return `Cannot update attribute ${key[0]}. This attribute is part of the key`;
  for (const [index, path] of paths.entries()) {
    const other = paths.slice(0, index).find((earlier) => isWithin(path, earlier) || isWithin(earlier, path));
    if (other === undefined) continue;
    return (
      "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; " +
      `path one: [${other.join(", ")}], path two: [${path.join(", ")}]`
    );
  }
  return undefined;
}

/** The paths that an update expression changes, each as its attribute and what is within it. */
function parsePaths(expression: string, names: Readonly<Record<string, string>>): string[][] {
  return expression
    .split(/(?:^|\s+)(?:SET|REMOVE|ADD|DELETE)\s+/i)
    .flatMap(outerParts)
    .flatMap((part) => /^\s*([\w#.[\]-]+)/.exec(part)?.[1] ?? [])
    .map((path) => (path.match(/[^.[\]]+/g) ?? []).map((segment) => names[segment] ?? segment));
}

/** A clause's parts between the commas that are in no parentheses. */
function outerParts(clause: string): string[] {
  let depth = 0;
  let part = "";
  const parts: string[] = [];
  for (const character of clause) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return [...parts, part];
}

const isWithin = (path: readonly string[], outer: readonly string[]): boolean =>
  outer.every((segment, index) => path[index] === segment);

/** The attributes that an expression names. */
const namesIn = (expression: string, names: Readonly<Record<string, string>>): string[] =>
  (expression.match(/(?<![:\w#])#?[A-Za-z_]\w*/g) ?? []).map((name) => names[name] ?? name);

function listKeyAttributes(index: string | undefined): readonly string[] {
  if (index === undefined) return ["pk", "sk"];
  const found = Object.entries(INDEXES).find(([name]) => name === index)?.[1];
  return found === undefined ? [] : [found.pk, found.sk];
}

function toItem(attributes: Readonly<Record<string, unknown>>): Item {
  const plainOnes = Object.entries(attributes).map(([name, value]) => [name, plain(value)] as const);
  const { pk = "", sk = "", ...rest } = Object.fromEntries(plainOnes);
  return { ...rest, pk: String(pk), sk: String(sk) };
}

/** Converts a value of DynamoDB's API, such as `{ S: "text" }`, to one of the table's port. */
function plain(value: unknown): Value {
  const [[type, content] = ["NULL", undefined]] = Object.entries(v.parse(Attributes, value));
  if (type === "NULL") return null;
  if (type === "N") return Number(content);
  if (type === "BOOL") return content === true;
  if (type === "B") return Buffer.from(String(content), "base64");
  if (type === "L") return v.parse(v.array(v.unknown()), content).map(plain);
  if (type === "M") {
    const entries = Object.entries(v.parse(Attributes, content));
    return Object.fromEntries(entries.map(([name, entry]) => [name, plain(entry)]));
  }
  return Array.isArray(content) ? content.map(String) : String(content);
}

function first<T>(values: readonly T[], complain: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = complain(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
