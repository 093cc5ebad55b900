import type { Owner } from "#shared/table/keys.ts";

export const isSameOwner = (one: Owner, other: Owner): boolean => one.type === other.type && one.uid === other.uid;
