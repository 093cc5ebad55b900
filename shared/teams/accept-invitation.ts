import * as v from "valibot";
import { type KeyOwner, makeKey, parseKeyList, toKeyListUpdate } from "#shared/api-keys/key-list.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { foldedEmail, toUserProfile } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type TransactionWrite } from "#shared/table/table.ts";
import { Role } from "#shared/wire/role.ts";
import type { CreatedAccount, Membership } from "#shared/wire/team.ts";
import { type Invitation, openInvitation, removals } from "./invitations.ts";
import { alreadyIn, join } from "./members.ts";
import { MAX_TEAMS, tooManyTeams } from "./people.ts";
import type { TeamPorts } from "./ports.ts";
import { teamCalled } from "./write-team.ts";

interface AcceptedInvitation {
  readonly membership: Membership;
  readonly replayed: boolean;
}

/** Accepts an invitation: the caller becomes a member, and the invitation is used up. */
export async function acceptInvitation(
  token: string,
  { user, teams }: PersonalPrincipal,
  once: IdempotentRequest,
  ports: TeamPorts,
): Promise<AcceptedInvitation> {
  const { table, now } = ports;
  return runIdempotent<AcceptedInvitation>(
    table,
    once,
    now,
    async (record) => {
      const invitation = await openInvitation(token, table, now());
      const { team_uid: team, role } = invitation;
      const name = await nameOfTeam(team, ports);
      // Who invites is a member, or was one when they did.
      if (invitation.created_by === user.uid)
        throw teams.some(({ uid }) => uid === team) ? alreadyIn() : notFound("invitation");
      if (teams.length >= MAX_TEAMS) throw tooManyTeams();
      try {
        const also = [record(`${team}:${role}`), ...removals(invitation), ...inviterIsAdmin(invitation)];
        await join({ team, person: user, role, isNewUser: false }, also, ports);
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        throw error.positions.includes(0) ? new IdempotencyRecordExists() : notFound("invitation");
      }
      return { membership: { uid: team, name, role }, replayed: false };
    },
    async (result) => {
      const [team = "", role] = result.split(":");
      const { name } = await teamCalled(team, ports);
      return { membership: { uid: team, name, role: v.parse(Role, role) }, replayed: true };
    },
  );
}

/**
 * Accepts an invitation without a key: creates the account of the invited address, its first key and its membership in one
 * transaction. Throws 401 where the address has an account, since that account's own key is needed then.
 */
export async function createInvitedAccount(token: string, ports: TeamPorts): Promise<CreatedAccount> {
  const { table } = ports;
  const now = ports.now();
  const invitation = await openInvitation(token, table, now);
  const { team_uid: team, role, email } = invitation;
  await nameOfTeam(team, ports);
  const uid = uuidv7(now);
  const [displayName = email] = email.split("@");
  const person = { uid, displayName, email };
  const holder: KeyOwner = { kind: "personal", user: uid, defaultTeam: team };
  const key = makeKey(holder, { uid: uuidv7(now), name: "first key", now, createdBy: toUserProfile(person) });
  const also: TransactionWrite[] = [
    {
      kind: "put",
      item: { ...keys.userByEmail(foldedEmail(email)), v: 1, user_uid: uid },
      if: { pk: { exists: false } },
    },
    key.put,
    toKeyListUpdate(holder, parseKeyList(undefined), [key.entry]),
    ...removals(invitation),
    ...inviterIsAdmin(invitation),
  ];
  try {
    await join({ team, person, role, isNewUser: true }, also, ports);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw error.positions.some((position) => position > 0) ? notFound("invitation") : ownKeyNeeded();
  }
  return { user_uid: uid, team_uid: team, key: key.raw };
}

async function nameOfTeam(team: string, ports: TeamPorts): Promise<string> {
  const { name } = await teamCalled(team, ports).catch(() => {
    throw notFound("invitation");
  });
  return name;
}

/** An admin who was removed or lost the role cannot come back, or bring others in, by links made before. */
const inviterIsAdmin = ({ team_uid, created_by }: Invitation): TransactionWrite[] =>
  created_by === undefined
    ? []
    : [{ kind: "check", key: keys.member(team_uid, created_by), if: { role: { eq: "admin" } } }];

const ownKeyNeeded = () =>
  new RunyardError("authentication_required", {
    detail:
      "this invitation is accepted with the invited person's own API key: send it as Authorization: Bearer <API key>",
    headers: { "www-authenticate": "Bearer" },
  });
