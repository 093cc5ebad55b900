import { invalid, RunyardError } from "#shared/errors.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { isInTeam } from "#shared/principals/principal.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { requireScopes } from "#shared/principals/scopes.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import { isReservedWorkerId } from "#shared/runs/placement.ts";
import type { Table } from "#shared/table/table.ts";
import { wakeWorker } from "#shared/workers/offer-run.ts";
import { workerStore } from "#shared/workers/worker-store.ts";

const MAX_ID_BYTES = 512;
/** Connections of a team's workers. A single machine has places for 2,000, which one team must not take from the others. */
const MAX_TEAM_CONNECTIONS = 500;
const RETRY_SECONDS = 60;

/** What opening and closing connections needs. */
export interface ConnectPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly queue: RunQueue;
  readonly principals: PrincipalStore;
  /** Seconds after which a new connection can receive frames. On AWS it cannot until its opening was accepted. */
  readonly settleSeconds: number;
}

/** The request that opens a socket. */
export interface ConnectRequest {
  readonly connectionId: string;
  readonly authorization: string | undefined;
  /** The team in X-Team-Uid, for a person with several. */
  readonly teamUid: string | undefined;
  readonly workerId: string | undefined;
}

/**
 * Accepts a connection of a self-hosted worker, to which the runs that wait for it are then offered.
 * @throws RunyardError if the key or the worker's id is refused
 */
export async function connectWorker(request: ConnectRequest, ports: ConnectPorts): Promise<void> {
  const { connectionId, workerId = "" } = request;
  const principal = await ports.principals.authenticate(request.authorization, request.teamUid);
  const { team, keyHash } = findTeam(principal, request.teamUid);
  requireScopes(["workers"], principal);
  checkWorkerId(workerId);
  await refuseBeyond(team, ports);
  const busyUntil = ports.settleSeconds === 0 ? 0 : ports.now() + ports.settleSeconds * 1000;
  await workerStore(ports).register({ team, workerHost: workerId, connectionId }, keyHash, busyUntil);
  await ports.principals.noteUse(principal);
  await wakeWorker(team, workerId, ports, ports.settleSeconds === 0 ? undefined : ports.settleSeconds + 1);
}

function findTeam(principal: Principal, teamUid: string | undefined): { team: string; keyHash: string } {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a worker connects with an agent key or a personal key" });
  }
  if (teamUid !== undefined && !isInTeam(principal, teamUid)) {
    throw new RunyardError("not_authorized", { detail: "X-Team-Uid: you are not a member of this team" });
  }
  const { credential } = principal;
  if (credential.kind !== "key")
    throw new RunyardError("not_authorized", { detail: "a worker connects with an API key" });
  return { team: requireTeam(principal), keyHash: credential.hash };
}

function checkWorkerId(id: string): void {
  if (id === "") throw invalid("worker_id", "is required: add ?worker_id=ID to the address");
  if (Buffer.byteLength(id) > MAX_ID_BYTES) throw invalid("worker_id", `must have at most ${MAX_ID_BYTES} bytes`);
  if (isReservedWorkerId(id)) throw invalid("worker_id", "is reserved: it must not begin with warp, or be hosted");
}

/** Requests at the same time may exceed the limit by their number. */
async function refuseBeyond(team: string, ports: Pick<ConnectPorts, "table" | "now">): Promise<void> {
  if ((await workerStore(ports).ofTeam(team)).length < MAX_TEAM_CONNECTIONS) return;
  const detail = `the workers of the team have ${MAX_TEAM_CONNECTIONS} connections already`;
  throw new RunyardError("resource_unavailable", { status: 429, detail, retryAfterSeconds: RETRY_SECONDS });
}

/** Removes a closed connection. Its tasks go on: a socket says nothing about the programs that the worker has started. */
export async function disconnectWorker(
  connectionId: string,
  ports: Pick<ConnectPorts, "table" | "now">,
): Promise<void> {
  const store = workerStore(ports);
  const found = await store.find(connectionId);
  if (found !== undefined) await store.forget(found.key);
}
