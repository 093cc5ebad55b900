import { RunyardError } from "#shared/errors.ts";
import type { KeyOwner } from "#shared/keys/key-owner.ts";
import { keyStore, revokeKeys } from "#shared/keys/key-store.ts";
import type { OidcSubject } from "#shared/oidc/exchange-code.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { createAccount } from "#shared/teams/accept-invitation.ts";
import type { Invitation } from "#shared/teams/invitation-store.ts";
import { readInvitationsFor } from "#shared/teams/invitations.ts";
import { bindAccount, oidcAccountStore } from "./oidc-account-store.ts";
import { deleteSession, webSessionStore } from "./web-session-store.ts";

interface BindPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** Writes of one transaction, without the two that bind. */
const MAX_WRITES = 98;

/**
 * Binds a person at the issuer to the user with their verified address, whose account is created if the address was invited.
 * @returns the user
 * @throws RunyardError 403 where the address is not verified or not invited, or its user is bound to another account
 */
export async function bindSubject(subject: OidcSubject, ports: BindPorts): Promise<string> {
  const { verifiedEmail: email } = subject;
  if (email === undefined) {
    throw new RunyardError("not_authorized", {
      detail: "email_verified: the issuer has not verified an email address in ASCII characters",
    });
  }
  const accounts = oidcAccountStore(ports.table);
  return retryOnConflict("the account is", async () => {
    try {
      // Read before the user: an invitation that is used between the two reads has given the address an account.
      const invitations = await readInvitationsFor(email, ports.table, ports.now());
      const known = await accounts.findUserByEmail(email);
      if (known === undefined) return await createBoundAccount(subject, invitations, ports);
      await bindUser(subject, known, ports);
      return known;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // A concurrent sign-in of the same person may have bound them.
      const bound = await accounts.findUser(subject);
      if (bound !== undefined) return bound;
      throw error.failed.has("user") ? boundToAnother() : error;
    }
  });
}

/**
 * Binds a person at the issuer to a user. Where the user's address is proven by this for the first time, somebody else may have
 * accepted an invitation to it before, so that all keys and sessions of the account end with the binding.
 */
async function bindUser(subject: OidcSubject, user: string, { table }: BindPorts): Promise<void> {
  const accounts = oidcAccountStore(table);
  const isProven = await accounts.hasProvenAddress(user);
  if (isProven === undefined) throw notInvited();
  await accounts.bind(subject, user, isProven ? [] : await endCredentials(user, table));
}

/** The writes that end all keys and sessions of a user, under the condition that they get no other key meanwhile. */
async function endCredentials(user: string, table: Table): Promise<TransactionWrite[]> {
  const owner: KeyOwner = { kind: "personal", user, defaultTeam: undefined };
  const list = await keyStore(table).readList(owner);
  const sessions = await webSessionStore(table).list(user);
  const ended = revokeKeys({ owner, list, entries: list.entries });
  // Sessions that were started with a key end with it, also those that do not fit into the transaction.
  const independent = sessions.filter(({ key_hash }) => key_hash === undefined);
  const others = sessions.filter(({ key_hash }) => key_hash !== undefined);
  return [...ended, ...[...independent, ...others].slice(0, MAX_WRITES - ended.length).map(deleteSession)];
}

/**
 * Creates the account of an invited address by the first of its invitations that can be accepted.
 * @throws ConflictError where the address got an account meanwhile, or the person at the issuer was bound
 */
async function createBoundAccount(
  subject: OidcSubject,
  invitations: readonly Invitation[],
  ports: BindPorts,
): Promise<string> {
  for (const invitation of invitations) {
    try {
      const { uid } = await createAccount(invitation, (person) => bindAccount(subject, person.uid), ports);
      return uid;
    } catch (error) {
      if (!isUnacceptable(error)) throw error;
    }
  }
  throw invitations.length === 0 ? notInvited() : noneAcceptable();
}

/** Whether an invitation cannot be accepted: its inviter is no admin any more, its team is full or deleted, or it was used or revoked. */
const isUnacceptable = (error: unknown): boolean =>
  (error instanceof RunyardError && !error.retryable) ||
  (error instanceof ConflictError && !error.failed.has("email") && !error.failed.has("subject"));

export const notInvited = () =>
  new RunyardError("not_authorized", {
    detail: "email: this address was not invited; ask an admin of a team for an invitation",
  });

const noneAcceptable = () =>
  new RunyardError("not_authorized", {
    detail: "email: the invitation of this address can no longer be accepted; ask an admin of a team for another one",
  });

const boundToAnother = () =>
  new RunyardError("not_authorized", {
    detail: "sub: the user with this address signs in with another account of the issuer",
  });
