import { randomBytes } from "node:crypto";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { sha256, uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { type StoredScopes, scopesMember } from "#shared/principals/scopes.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { Role } from "#shared/wire/role.ts";
import type { CreatedInvitation, InvitationItem } from "#shared/wire/team.ts";
import { type Invitation, invitationStore } from "./invitation-store.ts";
import type { TeamPorts } from "./team-ports.ts";

/** Open invitations that one team may have. */
const MAX_INVITATIONS = 100;
const LIFETIME_MS = 7 * 24 * 3_600_000;

interface NewInvitation {
  readonly team: string;
  readonly email: string;
  readonly role: Role;
  readonly createdBy: string;
  /** The scopes of the inviting credential. */
  readonly scopes: StoredScopes;
}

/** Creates an invitation once. Everybody who has its link may accept it, so a repeated request does not return the link. */
export function invite(
  fields: NewInvitation,
  idempotency: IdempotentRequest,
  ports: TeamPorts,
): Promise<CreatedInvitation> {
  const { table, now: clock, baseUrl, webUrl } = ports;
  return runIdempotent(
    table,
    idempotency,
    clock,
    async (record) => {
      const open = await readInvitations(fields.team, ports);
      if (open.length >= MAX_INVITATIONS) throw tooMany(MAX_INVITATIONS, "invitations that wait to be accepted");
      const token = randomBytes(32).toString("base64url");
      const invitation = toInvitation(fields, token, clock());
      await storeInvitation(invitation, record(invitation.id), table);
      const link =
        webUrl === undefined ? `${baseUrl}/agent/invitations/${token}/accept` : `${webUrl}/invitations/${token}`;
      return { ...toInvitationItem(invitation), link };
    },
    async (id) => {
      throw new RunyardError("conflict", {
        detail: `this request already created the invitation ${id}, and its link is shown only once: delete it and create another with a new Idempotency-Key`,
        retryable: false,
      });
    },
  );
}

const toInvitation = (
  { team, email, role, createdBy, scopes }: NewInvitation,
  token: string,
  now: number,
): Invitation => ({
  id: uuidv7(now),
  team_uid: team,
  email,
  role,
  hash: sha256(token),
  created_by: createdBy,
  ...scopesMember(scopes),
  created_at: now,
  expires_at_ms: now + LIFETIME_MS,
});

async function storeInvitation(invitation: Invitation, record: Put, table: Table): Promise<void> {
  try {
    await invitationStore(table).create(invitation, record);
  } catch (error) {
    throw error instanceof ConflictError ? new IdempotencyRecordExists() : error;
  }
}

/** The open invitations of a team, oldest first. */
export async function readInvitations(team: string, { table, now }: TeamPorts): Promise<InvitationItem[]> {
  const invitations = await invitationStore(table).list(team);
  return invitations.filter((invitation) => isOpen(invitation, now())).map(toInvitationItem);
}

/** Revokes an invitation: its link can no longer be accepted. */
export async function revokeInvitation(team: string, id: string, { table }: TeamPorts): Promise<void> {
  const store = invitationStore(table);
  const invitation = await store.get(team, id);
  if (invitation === undefined) throw notFound("invitation");
  try {
    await store.delete(invitation);
  } catch (error) {
    throw error instanceof ConflictError ? notFound("invitation") : error;
  }
}

/**
 * Reads the invitation that a token belongs to.
 * @throws RunyardError 404 where it is unknown, used, revoked or expired
 */
export async function readOpenInvitation(token: string, table: Table, now: number): Promise<Invitation> {
  const invitation = await invitationStore(table).getByToken(sha256(token));
  if (invitation === undefined || !isOpen(invitation, now)) throw notFound("invitation");
  return invitation;
}

/** The open invitations of an address, oldest first. */
export async function readInvitationsFor(email: string, table: Table, now: number): Promise<Invitation[]> {
  const invitations = await invitationStore(table).listByEmail(email);
  return invitations.filter((one) => isOpen(one, now)).toSorted((a, b) => a.created_at - b.created_at);
}

/** Compared on read, because the table's own expiry lags. */
const isOpen = ({ expires_at_ms }: Invitation, now: number): boolean => expires_at_ms > now;

const toInvitationItem = ({ id, email, role, created_at, expires_at_ms }: Invitation): InvitationItem => ({
  id,
  email,
  role,
  created_at: toTimestamp(created_at),
  expires_at: toTimestamp(expires_at_ms),
});
