/** The only access to the table. Conditions are data, so that DynamoDB and the memory table evaluate them alike. */

export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly Value[]
  | { readonly [name: string]: Value };
export type Item = { readonly pk: string; readonly sk: string; readonly [name: string]: Value };
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/**
 * A test of one attribute. `absentOr` also holds where the attribute is missing. `belowAttribute` and `atLeastAttribute`
 * compare with another attribute of the same item, or with `otherwise` where the item has no such attribute.
 */
export type Test =
  | { readonly eq: string | number | boolean }
  | { readonly in: readonly string[] }
  | { readonly below: string | number }
  | { readonly belowAttribute: string; readonly otherwise: number }
  | { readonly atLeastAttribute: string; readonly otherwise: number }
  | { readonly atLeast: number }
  | { readonly exists: boolean }
  | { readonly absentOr: Exclude<Test, { absentOr: unknown } | { exists: unknown }> };

/** The condition that an attribute still has the value that was read; undefined where it had none. */
export const valueUnchanged = (value: string | number | undefined): Test =>
  value === undefined ? { exists: false } : { eq: value };

/** All of them must hold; of a missing item only `exists: false` and `absentOr` do. */
export type Conditions = Readonly<Record<string, Test>>;

export interface Put {
  readonly kind: "put";
  readonly item: Item;
  readonly if?: Conditions;
}
export interface Update {
  readonly kind: "update";
  readonly key: Key;
  readonly set?: Readonly<Record<string, Value>>;
  readonly add?: Readonly<Record<string, number>>;
  readonly remove?: readonly string[];
  readonly if?: Conditions;
}
export interface Delete {
  readonly kind: "delete";
  readonly key: Key;
  readonly if?: Conditions;
}
export interface Check {
  readonly kind: "check";
  readonly key: Key;
  readonly if: Conditions;
}
export type Write = Put | Update | Delete;
export type TransactionWrite = Write | Check;

export type IndexName = "gsi1" | "gsi2" | "gsi3" | "gsi4" | "gsi5" | "gsi6" | "gsi7";

/** Key attributes of each index, and what else its entries carry; infra declares the same ones and a test holds the two together. */
export const INDEXES: Readonly<
  Record<IndexName, { readonly pk: string; readonly sk: string; readonly carries: readonly string[] }>
> = {
  gsi1: { pk: "updated_scope", sk: "updated_key", carries: ["p", "state"] },
  gsi2: { pk: "scope", sk: "created_key", carries: ["p"] },
  gsi3: { pk: "scope", sk: "title_key", carries: ["p"] },
  gsi4: { pk: "scope", sk: "agent_key", carries: ["p"] },
  gsi5: { pk: "active_scope", sk: "created_key", carries: ["p"] },
  gsi6: { pk: "check_shard", sk: "check_at", carries: ["v"] },
  gsi7: { pk: "group", sk: "updated_key", carries: ["p", "state"] },
};

export interface Query {
  readonly index?: IndexName;
  readonly pk: string;
  /** Range of the sort key: a prefix, or bounds (`from` and `to` inclusive, `after` and `before` exclusive). At most one lower and one upper bound. */
  readonly prefix?: string;
  readonly from?: string;
  readonly after?: string;
  readonly to?: string;
  readonly before?: string;
  readonly descending?: boolean;
  readonly limit?: number;
}
export interface Page {
  readonly items: readonly Item[];
  /** True when the limit ended the page; there may be nothing behind it even so. False: there is not. */
  readonly more: boolean;
}

export interface Table {
  get(key: Key): Promise<Item | undefined>;
  /** In the order of the keys; a missing item is undefined. At most 100 different keys. */
  batchGet(keys: readonly Key[]): Promise<readonly (Item | undefined)[]>;
  query(query: Query): Promise<Page>;
  /** Throws ConditionFailed when `if` does not hold. */
  write(write: Write): Promise<void>;
  /** All or nothing, at most 100 writes. Throws ConditionFailed naming the writes whose `if` does not hold. */
  transact(writes: readonly TransactionWrite[]): Promise<void>;
}

/** A condition did not hold; nothing was written. */
export class ConditionFailed extends Error {
  /** Positions, in the transaction, of the writes whose condition failed. */
  readonly positions: readonly number[];
  constructor(positions: readonly number[]) {
    super(`condition failed at ${positions.join(", ")}`);
    this.name = "ConditionFailed";
    this.positions = positions;
  }
}

/** Others wrote the same items each time that it was tried; nothing was written. */
export class TableBusy extends Error {
  constructor(cause: unknown) {
    super("others write the same items all the time", { cause });
    this.name = "TableBusy";
  }
}

export interface Bound {
  readonly value: string;
  readonly inclusive: boolean;
}

/** Bounds of the sort key as DynamoDB can express them: both tables read queries through this. */
export function bounds(query: Query): { low?: Bound; high?: Bound } {
  const low = query.from ?? query.after ?? query.prefix;
  const high = query.to ?? query.before ?? (query.prefix === undefined ? undefined : `${query.prefix}\u{10ffff}`);
  return {
    ...(low === undefined
      ? {}
      : { low: { value: low, inclusive: query.after === undefined || query.from !== undefined } }),
    ...(high === undefined
      ? {}
      : { high: { value: high, inclusive: query.before === undefined || query.to !== undefined } }),
  };
}
