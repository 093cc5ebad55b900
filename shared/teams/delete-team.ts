import { notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import { installationStore } from "#shared/github/installation-store.ts";
import { identityStore } from "#shared/identities/identity-store.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import { removeSecret } from "#shared/secrets/secrets.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { removeTrigger } from "#shared/triggers/remove-trigger.ts";
import type { WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import { removeWebhook } from "#shared/webhooks/webhooks.ts";
import { type TeamPart, teamDeletionStore } from "./team-deletion-store.ts";

/** The ports of a deletion, which also deletes values of secrets. */
export type DeletionPorts = SecretPorts & Pick<WebhookPorts, "webhookSecrets">;

/** After a day the table deletes the last items of a team. */
const CLOSED_SECONDS = 24 * 3_600;

const conflict = (detail: string) => new RunyardError("conflict", { detail, retryable: false });
const hasSchedulesError = () => conflict("the team has schedules: delete them first");

const hasSchedules = (parts: readonly TeamPart[]): boolean => parts.some(({ kind }) => kind === "schedule");

/**
 * Deletes a team with everything in it: identities and their keys, environments, secrets, webhooks, triggers, installations of the GitHub
 * App, invitations, memberships. Its runs must have ended and its schedules must be deleted before. The admin's own membership and the
 * team itself are deleted last and together, so that after an interruption the admin can delete the team again.
 */
export async function removeTeam(team: string, admin: string, ports: DeletionPorts): Promise<void> {
  const store = teamDeletionStore(ports.table);
  const before = await store.list(team);
  if (hasSchedules(before)) throw hasSchedulesError();
  const counters = findCounters(before);
  await close(team, counters?.parts, ports);
  // Includes what was created meanwhile; from here on nothing more can be.
  const parts = await store.list(team);
  if (hasSchedules(parts)) {
    await store.reopen(team, { queueLimit: counters?.queueLimit, parts: counters?.parts });
    throw hasSchedulesError();
  }
  try {
    for (const part of parts) await removePart(team, part, admin, ports);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw retryableConflict("the team changes while it is deleted; send the request again");
  }
  try {
    const closedUntil = Math.ceil(ports.now() / 1000) + CLOSED_SECONDS;
    await store.deleteTeam(team, admin, { closedUntil, parts: counters?.parts });
  } catch (error) {
    throw error instanceof ConflictError ? notFound("team") : error;
  }
}

const findCounters = (parts: readonly TeamPart[]) => parts.find((part) => part.kind === "counters");

async function close(team: string, parts: number | undefined, { table }: SecretPorts): Promise<void> {
  try {
    await teamDeletionStore(table).close(team, parts);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("team")) throw notFound("team");
    throw conflict("the team has runs that have not ended: cancel them first");
  }
}

async function removePart(team: string, part: TeamPart, admin: string, ports: DeletionPorts): Promise<void> {
  const store = teamDeletionStore(ports.table);
  switch (part.kind) {
    case "identity":
      return identityStore(ports.table).delete(part.identity);
    case "environment":
      return store.deleteEnvironment(part.uid, part.entry);
    case "secret":
      return removeSecret([team], part.name, ports);
    case "webhook":
      return removeWebhook([team], part.uid, ports);
    case "trigger":
      return removeTrigger([team], part.uid, ports);
    case "installation":
      return installationStore(ports.table).release(team, part.id, { mayBeReleased: true });
    case "invitation":
      return store.deleteInvitation(team, part);
    case "member":
      return part.user === admin ? undefined : store.deleteMember(team, part.user);
    case "other":
      return store.deleteOther(part.key);
    case "schedule":
    case "counters":
    case "deleted-later":
      return undefined;
  }
}
