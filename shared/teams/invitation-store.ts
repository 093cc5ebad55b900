import * as v from "valibot";
import { checkAdmin } from "#shared/records/member.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { foldEmail } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table, TransactionWrite } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { Role } from "#shared/wire/role.ts";

/** An invitation as it is stored, once under its team and once under the hash of its token. */
const Invitation = v.object({
  id: v.string(),
  team_uid: v.string(),
  email: v.string(),
  role: Role,
  hash: v.string(),
  /** The admin who invites; invitations from before this was stored have none. */
  created_by: v.exactOptional(v.string()),
  /** The scopes of the inviting credential, which the first key of a new account has at most; absent where it had all. */
  scopes: v.exactOptional(v.array(Scope)),
  created_at: v.number(),
  expires_at_ms: v.number(),
});
export type Invitation = v.InferOutput<typeof Invitation>;

const parseInvitation = (item: Item): Invitation => v.parse(Invitation, item);

/** Invitations to teams. */
export function invitationStore(table: Table) {
  return {
    /** The stored invitations of a team, expired ones among them, oldest first. */
    async list(team: string): Promise<Invitation[]> {
      const { pk, sk: prefix } = keys.invitation(team, "");
      const { items } = await table.query({ pk, prefix });
      return items.map(parseInvitation);
    },

    async get(team: string, id: string): Promise<Invitation | undefined> {
      const item = await table.get(keys.invitation(team, id));
      return item === undefined ? undefined : parseInvitation(item);
    },

    /** The stored invitations of an address, expired ones among them, to any team. */
    async listByEmail(email: string): Promise<Invitation[]> {
      const { pk } = keys.invitationByEmail(foldEmail(email), "", "");
      const { items } = await table.query({ pk, prefix: "INVITATION#" });
      return items.map(parseInvitation);
    },

    async getByToken(hash: string): Promise<Invitation | undefined> {
      const item = await table.get(keys.invitationByToken(hash));
      return item === undefined ? undefined : parseInvitation(item);
    },

    /**
     * Stores an invitation with the idempotency record of its request. The table deletes it after its expiry.
     * @throws ConflictError naming `idempotency`
     */
    async create(invitation: Invitation, idempotency: Put): Promise<void> {
      const stored = { v: 1, ...invitation, expires_at: Math.ceil(invitation.expires_at_ms / 1000) };
      const [byId, byToken] = toKeys(invitation);
      const byEmail = toEmailKey(invitation);
      const writes: NamedWrites = {
        idempotency,
        byId: { kind: "put", item: { ...byId, ...stored } },
        byToken: { kind: "put", item: { ...byToken, ...stored } },
        byEmail: { kind: "put", item: { ...byEmail, ...stored } },
      };
      await transactInScope({ type: "Team", uid: invitation.team_uid }, writes, table);
    },

    /**
     * Deletes an invitation.
     * @throws ConflictError where it was used or deleted meanwhile
     */
    async delete(invitation: Invitation): Promise<void> {
      await transact(table, { invitation: useInvitation(invitation) });
    },
  };
}

const toKeys = ({ team_uid, id, hash }: Invitation) =>
  [keys.invitation(team_uid, id), keys.invitationByToken(hash)] as const;

const toEmailKey = ({ email, team_uid, id }: Pick<Invitation, "email" | "team_uid" | "id">) =>
  keys.invitationByEmail(foldEmail(email), team_uid, id);

/** Deletes the entry of an invitation under its address. */
export const deleteByEmail = (invitation: Pick<Invitation, "email" | "team_uid" | "id">): TransactionWrite => ({
  kind: "delete",
  key: toEmailKey(invitation),
});

/** The writes that use up an invitation; their conditions fail where it was used or deleted meanwhile. */
export const useInvitation = (invitation: Invitation): TransactionWrite[] => [
  ...toKeys(invitation).map((key): TransactionWrite => ({ kind: "delete", key, if: { pk: { exists: true } } })),
  deleteByEmail(invitation),
];

/** An admin who was removed or lost the role cannot return, or add others, through invitations created before. */
export const checkInviter = ({ team_uid, created_by }: Invitation): TransactionWrite[] =>
  created_by === undefined ? [] : [checkAdmin(team_uid, created_by)];
