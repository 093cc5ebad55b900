import { parseEnvironment } from "#shared/environments/environment.ts";
import { environmentRemoval } from "#shared/environments/write-environment.ts";
import { notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import { identityRemoval } from "#shared/identities/identity-removal.ts";
import { parseIdentity } from "#shared/records/identity.ts";
import { roleAttribute } from "#shared/records/user.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { deleteSecret } from "#shared/secrets/secrets.ts";
import { keys, teamPk } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Table, type TransactionWrite, type Value } from "#shared/table/table.ts";

/** A day, after which the table drops what is left of a team. */
const CLOSED_SECONDS = 24 * 3_600;

const conflict = (detail: string) => new RunyardError("conflict", { detail, retryable: false });
const scheduled = () => conflict("the team has schedules: delete them first");

const hasSchedules = (items: readonly Item[]): boolean => items.some(({ sk }) => sk.startsWith("SCHEDULE#"));

/**
 * Deletes a team with all that is its: identities and their keys, environments, secrets, invitations, memberships. Its runs have to have
 * ended and its schedules to be deleted before. What is left where this breaks off is a team with its admin, who deletes
 * it again; the admin's own membership and the team itself go last and together.
 */
export async function deleteTeam(team: string, admin: string, ports: SecretPorts): Promise<void> {
  const { table } = ports;
  const before = await table.query({ pk: teamPk(team) });
  if (hasSchedules(before.items)) throw scheduled();
  await close(team, ports);
  // What was made meanwhile belongs to it too; nothing more can be from here on.
  const { items } = await table.query({ pk: teamPk(team) });
  if (hasSchedules(items)) {
    await reopen(team, before.items.find(({ sk }) => sk === "COUNTERS")?.["queue_limit"], ports);
    throw scheduled();
  }
  try {
    for (const item of items) await removePart(team, item, admin, ports);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw retryableConflict("the team changes while it is deleted; send the request again");
  }
  const closedUntil = Math.ceil(ports.now() / 1000) + CLOSED_SECONDS;
  try {
    await table.transact([
      { kind: "delete", key: keys.team(team), if: { pk: { exists: true } } },
      { kind: "delete", key: keys.identities(team) },
      // Closed, they stay for a while: a run may be on its way whose caller was found in the team before.
      { kind: "update", key: keys.counters({ type: "Team", uid: team }), set: { expires_at: closedUntil } },
      ...membershipRemoval(team, admin),
    ]);
  } catch (error) {
    throw error instanceof ConditionFailed ? notFound("team") : error;
  }
}

/** Nothing is made in the team any more (`transactInScope`), and no run once none is left. */
async function close(team: string, { table }: SecretPorts): Promise<void> {
  try {
    await table.transact([
      { kind: "update", key: keys.team(team), set: { closed: true }, if: { pk: { exists: true } } },
      {
        kind: "update",
        key: keys.counters({ type: "Team", uid: team }),
        set: { queued: 0, queue_limit: 0 },
        if: { queued: { absentOr: { below: 1 } }, running: { absentOr: { below: 1 } } },
      },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.positions.includes(0)) throw notFound("team");
    throw conflict("the team has runs that have not ended: cancel them first");
  }
}

/** Undoes `close`. */
function reopen(team: string, queueLimit: Value | undefined, { table }: SecretPorts): Promise<void> {
  const counters = { kind: "update", key: keys.counters({ type: "Team", uid: team }) } as const;
  return table.transact([
    { kind: "update", key: keys.team(team), remove: ["closed"] },
    queueLimit === undefined
      ? { ...counters, remove: ["queue_limit"] }
      : { ...counters, set: { queue_limit: queueLimit } },
  ]);
}

async function removePart(team: string, item: Item, admin: string, ports: SecretPorts): Promise<void> {
  const { table } = ports;
  const [kind, rest = ""] = item.sk.split(/#(.*)/s);
  switch (kind) {
    case "IDENTITY":
      return table.transact(await identityRemoval(parseIdentity(item), table));
    case "ENVIRONMENT":
      return removeEnvironment(rest, item, table);
    case "SECRET":
      return deleteSecret([team], rest, ports);
    case "INVITATION":
      return table.transact([
        { kind: "delete", key: { pk: item.pk, sk: item.sk } },
        { kind: "delete", key: keys.invitationByToken(String(item["hash"])) },
      ]);
    case "MEMBER":
      return rest === admin ? undefined : table.transact(membershipRemoval(team, rest));
    // These go last, or with what they belong to.
    case "TEAM":
    case "COUNTERS":
    case "IDENTITIES":
    case "KEYS":
      return undefined;
    default:
      return table.write({ kind: "delete", key: { pk: item.pk, sk: item.sk } });
  }
}

async function removeEnvironment(uid: string, entry: Item, table: Table): Promise<void> {
  const item = await table.get(keys.environment(uid));
  const { pk, sk } = entry;
  return table.transact(
    item === undefined ? [{ kind: "delete", key: { pk, sk } }] : environmentRemoval(parseEnvironment(item)),
  );
}

const membershipRemoval = (team: string, user: string): TransactionWrite[] => [
  { kind: "delete", key: keys.member(team, user) },
  { kind: "update", key: keys.user(user), remove: [roleAttribute(team)] },
];
