import { createHmac } from "node:crypto";
import * as v from "valibot";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { generateKey } from "#shared/keys/generate-key.ts";
import type { KeyOwner } from "#shared/keys/key-owner.ts";
import { keyStore, putFirstKey } from "#shared/keys/key-store.ts";
import { readSigningKey } from "#shared/pagination/signing-key-store.ts";
import { hashKey, newKey, toKey } from "#shared/principals/api-key.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import type { Person } from "#shared/records/member.ts";
import { toUserProfile } from "#shared/records/user.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { Role } from "#shared/wire/role.ts";
import type { CreatedAccount, Membership } from "#shared/wire/team.ts";
import { checkInviter, type Invitation, useInvitation } from "./invitation-store.ts";
import { readOpenInvitation } from "./invitations.ts";
import { addMember, alreadyMember, MAX_TEAMS, tooManyTeams } from "./members.ts";
import type { TeamPorts } from "./team-ports.ts";
import { claimEmail } from "./user-store.ts";
import { findTeam } from "./write-team.ts";

interface AcceptedInvitation {
  readonly membership: Membership;
  readonly replayed: boolean;
}

/** Accepts an invitation: the caller becomes a member, and the invitation is used up. */
export async function joinTeam(
  token: string,
  { user, teams }: PersonalPrincipal,
  idempotency: IdempotentRequest,
  ports: TeamPorts,
): Promise<AcceptedInvitation> {
  const { table, now } = ports;
  return runIdempotent<AcceptedInvitation>(
    table,
    idempotency,
    now,
    async (record) => {
      const invitation = await readOpenInvitation(token, table, now());
      const { team_uid: team, role } = invitation;
      const name = await readTeamName(team, ports);
      // The inviter is a member, or was one when they created the invitation.
      if (invitation.created_by === user.uid)
        throw teams.some(({ uid }) => uid === team) ? alreadyMember() : notFound("invitation");
      if (teams.length >= MAX_TEAMS) throw tooManyTeams();
      const also = {
        idempotency: record(`${team}:${role}`),
        invitation: useInvitation(invitation),
        inviter: checkInviter(invitation),
      };
      try {
        await addMember({ team, person: user, role, isNewUser: false }, also, ports);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : notFound("invitation");
      }
      return { membership: { uid: team, name, role }, replayed: false };
    },
    async (result) => {
      const [team = "", role] = result.split(":");
      const { name } = await findTeam(team, ports);
      return { membership: { uid: team, name, role: v.parse(Role, role) }, replayed: true };
    },
  );
}

interface InvitedAccount {
  readonly account: CreatedAccount;
  readonly replayed: boolean;
}

/**
 * Accepts an invitation without a key: creates the account of the invited address, its first key and its membership in one
 * transaction. A person who does not get the response has no other way to their account, so that a repeat with the same
 * Idempotency-Key returns the same key. A repeat without one does not, because others may have the invitation's link too.
 * @throws RunyardError 401 where the address has an account, since that account's own key is needed then
 */
export async function createInvitedAccount(
  token: string,
  idempotency: IdempotentRequest,
  ports: TeamPorts,
): Promise<InvitedAccount> {
  const { table, now } = ports;
  if (!idempotency.keyed) {
    return { account: await createWithKey(token, newKey("personal"), undefined, ports), replayed: false };
  }
  const raw = await deriveFirstKey(token, idempotency, table);
  return runIdempotent<InvitedAccount>(
    table,
    idempotency,
    now,
    async (record) => ({ account: await createWithKey(token, raw, record, ports), replayed: false }),
    async (result) => {
      const [user_uid = "", team_uid = ""] = result.split(":");
      if (!(await keyStore(table).has(hashKey(raw)))) throw notFound("key");
      return { account: { user_uid, team_uid, key: raw }, replayed: true };
    },
  );
}

/**
 * The first key of an account, which only those can derive who know the invitation's token, the Idempotency-Key of its acceptance
 * and the deployment's secret. The first two are not stored.
 */
async function deriveFirstKey(token: string, { record }: IdempotentRequest, table: Table): Promise<string> {
  const secret = await readSigningKey("1", table);
  return toKey("personal", createHmac("sha256", secret).update(`first key\n${token}\n${record.pk}`).digest());
}

async function createWithKey(
  token: string,
  raw: string,
  record: ((result: string) => Put) | undefined,
  ports: TeamPorts,
): Promise<CreatedAccount> {
  const now = ports.now();
  const invitation = await readOpenInvitation(token, ports.table, now);
  const { team_uid: team, scopes } = invitation;
  const toKeyWrites = (person: Person): NamedWrites => {
    const owner: KeyOwner = { kind: "personal", user: person.uid, defaultTeam: team };
    const fields = { uid: uuidv7(now), name: "first key", now, createdBy: toUserProfile(person), scopes, raw };
    return { idempotency: record?.(`${person.uid}:${team}`), key: putFirstKey(owner, generateKey(owner, fields)) };
  };
  try {
    const { uid } = await createAccount(invitation, toKeyWrites, ports);
    return { user_uid: uid, team_uid: team, key: raw };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
    throw error.failedOnly("email") ? ownKeyNeeded() : notFound("invitation");
  }
}

/**
 * Creates the account of an invited address with its membership, together with the writes that `toWrites` returns for the person.
 * @throws ConflictError naming `email` where the address has an account, `invitation` where it was used or revoked meanwhile,
 * `inviter`, and the names that `toWrites` returns
 */
export async function createAccount(
  invitation: Invitation,
  toWrites: (person: Person) => NamedWrites,
  ports: Pick<TeamPorts, "table" | "now">,
): Promise<Person> {
  const { team_uid: team, role, email } = invitation;
  await readTeamName(team, ports);
  const uid = uuidv7(ports.now());
  const [displayName = email] = email.split("@");
  const person = { uid, displayName, email };
  const also = {
    email: claimEmail(email, uid),
    ...toWrites(person),
    invitation: useInvitation(invitation),
    inviter: checkInviter(invitation),
  };
  await addMember({ team, person, role, isNewUser: true }, also, ports);
  return person;
}

async function readTeamName(team: string, ports: Pick<TeamPorts, "table">): Promise<string> {
  const { name } = await findTeam(team, ports).catch(() => {
    throw notFound("invitation");
  });
  return name;
}

const ownKeyNeeded = () =>
  new RunyardError("authentication_required", {
    detail:
      "this invitation is accepted with the invited person's own API key: send it as Authorization: Bearer <API key>",
    headers: { "www-authenticate": "Bearer" },
  });
