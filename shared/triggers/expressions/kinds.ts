import type { parse } from "@bufbuild/cel";

export type Expr = ReturnType<typeof parse>["expr"];

/** What a value can be. The numbers of a payload are doubles, so that one kind stands for all numbers. */
export const KINDS = ["bool", "string", "number", "bytes", "list", "map", "null", "time", "type"] as const;
export type Kind = (typeof KINDS)[number];

interface Signature {
  /** The kinds that a method is called on; absent for functions without a target. */
  readonly target?: readonly Kind[];
  readonly args: readonly (readonly Kind[])[];
  /** Arguments at the end that may be left out. */
  readonly optional?: number;
  /** Absent where it can be every kind. */
  readonly result?: Kind;
}

const sized = ["string", "bytes", "list", "map"] as const;
const ofStrings: Signature = { target: ["string"], args: [["string"]], result: "bool" };
const ofTimes: Signature = { target: ["time"], args: [["string"]], optional: 1, result: "number" };
const simple = ["bool", "string", "number", "bytes", "time"] as const;
const converts = (result: Kind): Signature => ({ args: [simple], result });

/** The functions of the language that an expression can call; several signatures of one name are alternatives. */
export const FUNCTIONS: ReadonlyMap<string, readonly Signature[]> = new Map<string, readonly Signature[]>([
  [
    "size",
    [
      { args: [sized], result: "number" },
      { target: sized, args: [], result: "number" },
    ],
  ],
  ["startsWith", [ofStrings]],
  ["endsWith", [ofStrings]],
  ["contains", [ofStrings]],
  ["matches", [ofStrings]],
  ["int", [converts("number")]],
  ["uint", [converts("number")]],
  ["double", [converts("number")]],
  ["string", [converts("string")]],
  ["bytes", [converts("bytes")]],
  ["bool", [converts("bool")]],
  ["duration", [converts("time")]],
  ["timestamp", [converts("time")]],
  ["dyn", [{ args: [KINDS] }]],
  ["type", [{ args: [KINDS], result: "type" }]],
  ["getFullYear", [ofTimes]],
  ["getMonth", [ofTimes]],
  ["getDate", [ofTimes]],
  ["getDayOfMonth", [ofTimes]],
  ["getDayOfWeek", [ofTimes]],
  ["getDayOfYear", [ofTimes]],
  ["getHours", [ofTimes]],
  ["getMinutes", [ofTimes]],
  ["getSeconds", [ofTimes]],
  ["getMilliseconds", [ofTimes]],
]);

/** Operators by the name that the parser gives them, with the kinds that all operands can have together. */
export const COMPARISONS: ReadonlyMap<string, readonly Kind[]> = new Map<string, readonly Kind[]>([
  ["_==_", KINDS],
  ["_!=_", KINDS],
  ["_<_", simple],
  ["_<=_", simple],
  ["_>_", simple],
  ["_>=_", simple],
]);
export const ARITHMETIC: ReadonlyMap<string, readonly Kind[]> = new Map<string, readonly Kind[]>([
  ["_+_", ["number", "string", "bytes", "list", "time"]],
  ["_-_", ["number", "time"]],
  ["_*_", ["number"]],
  ["_/_", ["number"]],
  ["_%_", ["number"]],
  ["-_", ["number"]],
]);
export const LOGIC: readonly string[] = ["_&&_", "_||_", "!_", "@not_strictly_false"];

/** Names of types, as in `type(event.payload.id) == string`. */
export const TYPE_NAMES: readonly string[] = [
  "bool",
  "bytes",
  "double",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "type",
  "uint",
];
