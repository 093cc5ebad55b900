import { MAX_DESCENDANTS, RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import type { Update } from "#shared/table/table.ts";

/**
 * Counts one more child of `parent` and one more descendant of the tree's root, while there is room for both. A child of the
 * root is counted by one write: a transaction changes an item once. Neither of the two may be deleted meanwhile.
 */
export function countChild(parent: string, root: string | undefined): Update[] {
  const child = { pk: { exists: true }, children: { absentOr: { below: RUN_CAPS.children } } } as const;
  const descendant = { pk: { exists: true }, descendants: { absentOr: { below: MAX_DESCENDANTS } } } as const;
  const update = { kind: "update", key: keys.head(parent) } as const;
  if (root === undefined) {
    return [{ ...update, add: { children: 1, descendants: 1 }, if: { ...child, ...descendant } }];
  }
  return [
    { ...update, add: { children: 1 }, if: child },
    { kind: "update", key: keys.head(root), add: { descendants: 1 }, if: descendant },
  ];
}
