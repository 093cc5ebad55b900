import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Delete, Table } from "#shared/table/table.ts";

/** A pending claim: who may complete it, and for which team. */
const Claim = v.object({ team_uid: v.string(), user_uid: v.string(), expires_at_ms: v.number() });
export type Claim = v.InferOutput<typeof Claim>;

/** The pending claims of installations, by the hash of their state. */
export const claimStore = (table: Table) => ({
  async add(hash: string, claim: Claim): Promise<void> {
    const expires_at = Math.ceil(claim.expires_at_ms / 1000);
    await table.write({ kind: "put", item: { ...keys.githubClaim(hash), v: 1, ...claim, expires_at } });
  },

  async get(hash: string): Promise<Claim | undefined> {
    const item = await table.get(keys.githubClaim(hash));
    return item === undefined ? undefined : v.parse(Claim, item);
  },
});

/** The write that ends a claim; its condition fails if another request has ended it. */
export const deleteClaim = (hash: string): Delete => ({
  kind: "delete",
  key: keys.githubClaim(hash),
  if: { pk: { exists: true } },
});
