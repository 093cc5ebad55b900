import * as v from "valibot";
import { type InstallationChange, installationStore } from "#shared/github/installation-store.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { GithubAccount, RepositorySelection } from "#shared/wire/github/installation.ts";
import type { ReceivedDelivery } from "#shared/wire/triggers/delivery.ts";
import { toFacts } from "./decide.ts";
import { parseEvent, type ReceivedEvent } from "./event.ts";
import { NO_SECRET, notVerified, storeDelivery } from "./receive.ts";
import type { AppIngressPorts } from "./trigger-ports.ts";
import { triggerStore } from "./trigger-store.ts";
import { isVerified, type SignedRequest } from "./verify.ts";

const Id = v.object({ installation: v.object({ id: v.pipe(v.number(), v.integer()) }) });
const Changed = v.object({
  installation: v.object({ account: GithubAccount, repository_selection: RepositorySelection }),
});
const Renamed = v.object({ account: GithubAccount });

/**
 * Receives an event of the deployment's GitHub App: verifies it, and stores a delivery of it for each trigger of the kind `github`
 * of the team that owns the installation. Returns the id of these deliveries, even if there are none.
 */
export async function deliverAppEvent(request: SignedRequest, ports: AppIngressPorts): Promise<ReceivedDelivery> {
  const secret = await ports.appWebhookSecret();
  const now = ports.now();
  const isGenuine = isVerified({ kind: "github" }, secret ?? NO_SECRET, request, now);
  if (secret === undefined || !isGenuine) throw notVerified();
  const event = parseEvent({ kind: "github" }, request.body, request.header);
  const facts = toFacts(event, now);
  const found = v.safeParse(Id, event.payload);
  if (!found.success) return { delivery_id: facts.delivery_id };
  const installationId = found.output.installation.id;
  // Before the installation is deleted, so that its triggers get this event as well.
  const owner = await ports.ownerOf(installationId);
  await noteInstallation(installationId, event, ports);
  const triggers =
    owner === undefined ? [] : await triggerStore(ports.table).list([{ type: "Team", uid: owner.team_uid }]);
  const receivers = triggers.filter(({ kind }) => kind === "github");
  await Promise.all(receivers.map(({ uid }) => storeDelivery(uid, facts, { ...event, installationId }, ports)));
  return { delivery_id: facts.delivery_id };
}

/** Updates what is stored of an installation; a deleted one is removed from its team. */
async function noteInstallation(
  id: number,
  { type, action, payload }: ReceivedEvent,
  { table, now }: Pick<AppIngressPorts, "table" | "now">,
): Promise<void> {
  const store = installationStore(table);
  if (type === "installation" && action === "deleted") {
    const claimed = await store.get(id);
    if (claimed !== undefined) await store.release(claimed.team_uid, id).catch(ignoreConflict);
    return;
  }
  const changed = { ...readChange(type, payload), ...readRights(type, action, now()) };
  if (Object.keys(changed).length > 0) await store.refresh(id, changed);
}

/** What an event says about the rights of an installation. A token that was issued before is no longer used where it may have lost some. */
function readRights(type: string, action: string, now: number): InstallationChange {
  if (type === "installation_repositories" && action === "removed") return { tokens_from: now };
  if (type !== "installation") return {};
  if (action === "suspend" || action === "unsuspend") return { isSuspended: action === "suspend", tokens_from: now };
  return action === "new_permissions_accepted" ? { tokens_from: now } : {};
}

function readChange(type: string, payload: unknown): InstallationChange | undefined {
  if (type === "installation_target") {
    const renamed = v.safeParse(Renamed, payload);
    return renamed.success ? { account: renamed.output.account } : undefined;
  }
  if (type !== "installation" && type !== "installation_repositories") return undefined;
  const changed = v.safeParse(Changed, payload);
  return changed.success ? changed.output.installation : undefined;
}

/** Another team may have claimed the installation meanwhile. GitHub has deleted it, so that team cannot use it either. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error;
}
