import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { sha256, uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Table, type TransactionWrite } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { Role } from "#shared/wire/role.ts";
import type { CreatedInvitation, InvitationItem } from "#shared/wire/team.ts";
import type { TeamPorts } from "./ports.ts";

/** Invitations of a team that wait to be accepted. */
const MAX_INVITATIONS = 100;
const LIFE_MS = 7 * 24 * 3_600_000;

/** An invitation as it is stored, once under its team and once under the hash of its token. */
const Invitation = v.object({
  id: v.string(),
  team_uid: v.string(),
  email: v.string(),
  role: Role,
  hash: v.string(),
  /** The admin who invites; invitations from before this was stored have none. */
  created_by: v.exactOptional(v.string()),
  created_at: v.number(),
  expires_at_ms: v.number(),
});
export type Invitation = v.InferOutput<typeof Invitation>;

const parse = (item: Item): Invitation => v.parse(Invitation, item);

/** Invites to a team, once. Whoever has the link may accept it, so a repeat is not shown it again. */
export function createInvitation(
  team: string,
  { email, role, createdBy }: { readonly email: string; readonly role: Role; readonly createdBy: string },
  once: IdempotentRequest,
  ports: TeamPorts,
): Promise<CreatedInvitation> {
  const { table, now: clock, baseUrl, webUrl } = ports;
  return runIdempotent(
    table,
    once,
    clock,
    async (record) => {
      const open = await listInvitations(team, ports);
      if (open.length >= MAX_INVITATIONS) throw tooMany(MAX_INVITATIONS, "invitations that wait to be accepted");
      const now = clock();
      const token = randomBytes(32).toString("base64url");
      const invitation: Invitation = {
        id: uuidv7(now),
        team_uid: team,
        email,
        role,
        hash: sha256(token),
        created_by: createdBy,
        created_at: now,
        expires_at_ms: now + LIFE_MS,
      };
      // The table drops both by themselves once they are over.
      const stored = { v: 1, ...invitation, expires_at: Math.ceil((now + LIFE_MS) / 1000) };
      const [byId, byToken] = keysOf(invitation);
      try {
        const puts: TransactionWrite[] = [
          { kind: "put", item: { ...byId, ...stored } },
          { kind: "put", item: { ...byToken, ...stored } },
        ];
        await transactInScope({ type: "Team", uid: team }, [record(invitation.id), ...puts], table);
      } catch (error) {
        if (error instanceof ConditionFailed) throw new IdempotencyRecordExists();
        throw error;
      }
      const link =
        webUrl === undefined ? `${baseUrl}/agent/invitations/${token}/accept` : `${webUrl}/invitations/${token}`;
      return { ...toInvitationItem(invitation), link };
    },
    async (id) => {
      throw new RunyardError("conflict", {
        detail: `this request has made the invitation ${id} already, and its link is shown only once: delete it and make another, with a new Idempotency-Key`,
        retryable: false,
      });
    },
  );
}

/** The invitations of a team that wait to be accepted, oldest first. */
export async function listInvitations(team: string, { table, now }: TeamPorts): Promise<InvitationItem[]> {
  const { pk, sk: prefix } = keys.invitation(team, "");
  const { items } = await table.query({ pk, prefix });
  return items.map(parse).filter(isOpen(now())).map(toInvitationItem);
}

/** Takes an invitation back: its link leads nowhere from then on. */
export async function deleteInvitation(team: string, id: string, { table }: TeamPorts): Promise<void> {
  const item = await table.get(keys.invitation(team, id));
  if (item === undefined) throw notFound("invitation");
  try {
    await table.transact(removals(parse(item)));
  } catch (error) {
    // Accepted, or taken back, just now.
    throw error instanceof ConditionFailed ? notFound("invitation") : error;
  }
}

/** The invitation that a token belongs to. Throws 404 where it is unknown, used, revoked or expired. */
export async function openInvitation(token: string, table: Table, now: number): Promise<Invitation> {
  const item = await table.get(keys.invitationByToken(sha256(token)));
  const invitation = item === undefined ? undefined : parse(item);
  if (invitation === undefined || !isOpen(now)(invitation)) throw notFound("invitation");
  return invitation;
}

/** Compared on read, because the table's own expiry lags. */
const isOpen =
  (now: number) =>
  ({ expires_at_ms }: Invitation): boolean =>
    expires_at_ms > now;

const keysOf = ({ team_uid, id, hash }: Invitation) =>
  [keys.invitation(team_uid, id), keys.invitationByToken(hash)] as const;

/** The writes that use an invitation up; their conditions fail where it was used or revoked before. */
export const removals = (invitation: Invitation): TransactionWrite[] =>
  keysOf(invitation).map((key): TransactionWrite => ({ kind: "delete", key, if: { pk: { exists: true } } }));

const toInvitationItem = ({ id, email, role, created_at, expires_at_ms }: Invitation): InvitationItem => ({
  id,
  email,
  role,
  created_at: toTimestamp(created_at),
  expires_at: toTimestamp(expires_at_ms),
});
