import { bounds, type Conditions, INDEXES, type Query, type Test, type Update, type Value } from "./table.ts";

/** The names and values of the placeholders of an expression. */
export interface Expression {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, Value>;
}

/** Collects placeholders, so that no attribute name can collide with a reserved word. */
class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, Value> = {};
  name(attribute: string): string {
    const placeholder = `#${attribute.replace(/\W/g, "_")}`;
    this.names[placeholder] = attribute;
    return placeholder;
  }
  value(value: Value): string {
    const placeholder = `:${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return placeholder;
  }
  get expression(): Expression {
    return {
      ...(Object.keys(this.names).length > 0 ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length > 0 ? { ExpressionAttributeValues: this.values } : {}),
    };
  }
}

/** Converts conditions to a ConditionExpression with its placeholders. */
export function toCondition(conditions: Conditions | undefined): Expression & { ConditionExpression?: string } {
  const placeholders = new Placeholders();
  const condition = conjunction(conditions, placeholders);
  return { ...(condition === "" ? {} : { ConditionExpression: condition }), ...placeholders.expression };
}

/** Converts an update to an UpdateExpression and a ConditionExpression, which share their placeholders. */
export function toUpdate(update: Update): Expression & { UpdateExpression?: string; ConditionExpression?: string } {
  const placeholders = new Placeholders();
  const clauses = [
    clause(
      "SET",
      Object.entries(update.set ?? {}),
      ([name, value]) => `${placeholders.name(name)} = ${placeholders.value(value)}`,
    ),
    clause(
      "ADD",
      Object.entries(update.add ?? {}),
      ([name, value]) => `${placeholders.name(name)} ${placeholders.value(value)}`,
    ),
    clause("REMOVE", update.remove ?? [], (name) => placeholders.name(name)),
  ];
  const change = clauses.filter((part) => part !== "").join(" ");
  const condition = conjunction(update.if, placeholders);
  return {
    ...(change === "" ? {} : { UpdateExpression: change }),
    ...(condition === "" ? {} : { ConditionExpression: condition }),
    ...placeholders.expression,
  };
}

/** Converts a query to a KeyConditionExpression. */
export function keyRange(query: Query): Expression & { KeyConditionExpression: string } {
  const placeholders = new Placeholders();
  const names = query.index === undefined ? { pk: "pk", sk: "sk" } : INDEXES[query.index];
  const { low, high } = bounds(query);
  const sk = low === undefined && high === undefined ? "" : placeholders.name(names.sk);
  const parts = [`${placeholders.name(names.pk)} = ${placeholders.value(query.pk)}`];
  if (low !== undefined && high !== undefined) {
    // DynamoDB accepts two bounds only as BETWEEN, which includes both; the reader drops the items at an exclusive upper bound.
    const from = low.inclusive ? low.value : `${low.value}\u0000`;
    parts.push(`${sk} BETWEEN ${placeholders.value(from)} AND ${placeholders.value(high.value)}`);
  } else if (low !== undefined) {
    parts.push(`${sk} ${low.inclusive ? ">=" : ">"} ${placeholders.value(low.value)}`);
  } else if (high !== undefined) {
    parts.push(`${sk} ${high.inclusive ? "<=" : "<"} ${placeholders.value(high.value)}`);
  }
  return { KeyConditionExpression: parts.join(" AND "), ...placeholders.expression };
}

function clause<T>(verb: string, parts: readonly T[], print: (part: T) => string): string {
  return parts.length === 0 ? "" : `${verb} ${parts.map(print).join(", ")}`;
}

function conjunction(conditions: Conditions | undefined, placeholders: Placeholders): string {
  return Object.entries(conditions ?? {})
    .map(([name, test]) => print(placeholders.name(name), test, placeholders))
    .join(" AND ");
}

function print(name: string, test: Test, placeholders: Placeholders): string {
  if ("exists" in test) return `${test.exists ? "attribute_exists" : "attribute_not_exists"}(${name})`;
  if ("absentOr" in test) return `(attribute_not_exists(${name}) OR ${print(name, test.absentOr, placeholders)})`;
  if ("eq" in test) return `${name} = ${placeholders.value(test.eq)}`;
  if ("in" in test) return `${name} IN (${test.in.map((value) => placeholders.value(value)).join(", ")})`;
  if ("below" in test) return `${name} < ${placeholders.value(test.below)}`;
  if ("belowAttribute" in test) return compared(name, "<", test.belowAttribute, test.otherwise, placeholders);
  if ("atLeastAttribute" in test) return compared(name, ">=", test.atLeastAttribute, test.otherwise, placeholders);
  return `${name} >= ${placeholders.value(test.atLeast)}`;
}

function compared(
  name: string,
  sign: string,
  attribute: string,
  otherwise: number,
  placeholders: Placeholders,
): string {
  const limit = placeholders.name(attribute);
  return `(${name} ${sign} ${limit} OR (attribute_not_exists(${limit}) AND ${name} ${sign} ${placeholders.value(otherwise)}))`;
}
