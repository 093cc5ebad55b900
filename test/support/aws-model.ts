import * as ecs from "@aws-sdk/client-ecs";
import * as microvms from "@aws-sdk/client-lambda-microvms";

/** The models of two AWS services from their SDK clients, by which these serialize requests and parse responses. */
const MODELS = { ecs, microvms } as const;
export type ServiceName = keyof typeof MODELS;

/** Kinds of schemas, which are the first entry of each: https://github.com/smithy-lang/smithy-typescript, `StaticSchema`. */
const KIND = { simple: 0, list: 1, map: 2, structure: 3, union: 4, operation: 9 } as const;
/** Simple shapes by number, with their JSON types. */
const SIMPLE: Readonly<Record<number, string>> = { 0: "string", 1: "number", 2: "boolean", 4: "number", 17: "number" };
const LIST_OF = 64;
const MAP_OF = 128;

/** An operation, with its HTTP method and path if these identify it. */
export interface Operation {
  readonly name: string;
  readonly http: readonly [method: string, path: string] | undefined;
  /** Returns the problems of a request, one sentence each; an empty list if the service would accept it. */
  requestProblems(input: unknown): string[];
  respondWithProblem(output: unknown): string[];
}

/** Returns the operation `name` of the SDK's own model. Throws if there is none. */
export function findOperation(service: ServiceName, name: string): Operation {
  const schema: unknown = Reflect.get(MODELS[service], `${name}$`);
  if (!Array.isArray(schema) || schema[0] !== KIND.operation) throw new Error(`${service} has no operation ${name}`);
  const http = typeof schema[3] === "object" && schema[3] !== null ? Reflect.get(schema[3], "http") : undefined;
  return {
    name,
    http: Array.isArray(http) ? [String(http[0]), String(http[1])] : undefined,
    requestProblems: (input) => findProblems(schema[4], input, name),
    respondWithProblem: (output) => findProblems(schema[5], output, `${name} returned`),
  };
}

/** The names of all operations of a service. */
export const listOperations = (service: ServiceName): string[] =>
  Object.entries(MODELS[service]).flatMap(([name, schema]: [string, unknown]) =>
    name.endsWith("$") && Array.isArray(schema) && schema[0] === KIND.operation ? [name.slice(0, -1)] : [],
  );

function findProblems(schema: unknown, value: unknown, path: string): string[] {
  if (typeof schema === "function") return findProblems(schema(), value, path);
  if (schema === "unit") return [];
  if (typeof schema === "number") return ofNumber(schema, value, path);
  if (!Array.isArray(schema)) throw new Error(`${path}: a schema of an unknown form`);
  // A member's schema with its traits.
  if (schema.length === 2) return findProblems(schema[0], value, path);
  const [kind, , , , names, members, required] = schema;
  if (kind === KIND.simple) return findProblems(names, value, path);
  if (kind === KIND.list) return ofList(names, value, path);
  if (kind === KIND.map) return ofMap(members, value, path);
  if (!isRecord(value)) return [`${path} must be an object`];
  const known: string[] = names;
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  const missing = known.slice(0, Number(required ?? 0)).filter((name) => value[name] === undefined);
  const choices = Object.keys(value).length;
  return [
    ...unknown.map((name) => `${path}.${name} is no member`),
    ...missing.map((name) => `${path}.${name} is missing`),
    ...(kind === KIND.union && choices !== 1 ? [`${path} must have exactly one member`] : []),
    ...known.flatMap((name, index) =>
      value[name] === undefined ? [] : findProblems(members[index], value[name], `${path}.${name}`),
    ),
  ];
}

function ofNumber(schema: number, value: unknown, path: string): string[] {
  if (schema >= MAP_OF) return ofMap(schema - MAP_OF, value, path);
  if (schema >= LIST_OF) return ofList(schema - LIST_OF, value, path);
  const expected = SIMPLE[schema];
  if (expected === undefined) throw new Error(`${path}: simple shape ${schema} is not known here`);
  return typeof value === expected ? [] : [`${path} must be a ${expected}`];
}

const ofList = (member: unknown, value: unknown, path: string): string[] =>
  Array.isArray(value)
    ? value.flatMap((entry: unknown, index) => findProblems(member, entry, `${path}[${index}]`))
    : [`${path} must be a list`];

const ofMap = (member: unknown, value: unknown, path: string): string[] =>
  isRecord(value)
    ? Object.entries(value).flatMap(([name, entry]) => findProblems(member, entry, `${path}.${name}`))
    : [`${path} must be a map`];

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
