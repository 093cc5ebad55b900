import { keys } from "#shared/table/keys.ts";
import { type Table, type Update, valueUnchanged } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { formatRenewal, type Renewal } from "./renewal.ts";
import type { Secret } from "./secret-store.ts";

/**
 * Begins a renewal of the value that was read.
 * @param until when another renewal may begin, if this one has not ended
 * @returns false if another one is under way, or has ended, or the secret is deleted
 */
export function beginRenewal(secret: Secret, now: number, until: number, table: Table): Promise<boolean> {
  const isOpen = { renewals: valueUnchanged(secret.renewals), renewing: { absentOr: { below: now } } } as const;
  return change(secret, { set: { renewing: until }, if: isOpen }, table);
}

/** Ends a renewal; has no effect if the secret was replaced or deleted meanwhile. */
export async function endRenewal(secret: Secret, until: number, renewal: Renewal, table: Table): Promise<void> {
  const set = { renewal: formatRenewal(renewal), renewals: (secret.renewals ?? 0) + 1 };
  await change(secret, { set, remove: ["renewing"], if: { renewing: { eq: until } } }, table);
}

/** Updates a name. Returns false if it has changed since it was read. */
const change = (
  { team_uid, name, id }: Secret,
  update: Pick<Update, "set" | "remove" | "if">,
  table: Table,
): Promise<boolean> =>
  writeIf(table, {
    kind: "update",
    key: keys.secret(team_uid, name),
    ...update,
    if: { id: { eq: id }, ...update.if },
  });
