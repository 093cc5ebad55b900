import type { Test } from "#shared/table/table.ts";
import type { RunHead } from "./run-head.ts";

/** Members of a parsed head that its keys contain, so that it stores no attribute of that name. */
type KeyPart = "run_id" | "created_at" | "updated_at";
type NamesOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T, K extends PropertyKey> = T extends { readonly [P in K]?: infer Value } ? Value : never;
type OptionalNames<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

/** The name of an attribute that the head of a run has in some of its states. */
export type HeadAttribute = Exclude<NamesOf<RunHead>, KeyPart>;

/** Attributes of a head with their values. */
export type HeadAttributes = { readonly [K in HeadAttribute]?: Readonly<ValueOf<RunHead, K>> };

/** The name of an attribute that a head need not have in each of its states. */
export type RemovableAttribute = Exclude<HeadAttribute, keyof RunHead> | (OptionalNames<RunHead> & HeadAttribute);

type NumberAttribute = {
  [K in HeadAttribute]: NonNullable<HeadAttributes[K]> extends number ? K : never;
}[HeadAttribute];

/** What is added to numbers of a head. */
export type HeadIncrements = { readonly [K in NumberAttribute]?: number };

/** Conditions of a head. */
export type HeadConditions = { readonly [K in HeadAttribute]?: Test };

/** A part of the update of a head. */
export interface HeadUpdate {
  readonly set: HeadAttributes;
  readonly remove: readonly RemovableAttribute[];
  readonly if: HeadConditions;
}
