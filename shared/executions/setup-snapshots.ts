import type * as v from "valibot";
import { isExpired, type ShownSnapshot } from "#shared/environments/setup-snapshot.ts";
import { setupSnapshotStore } from "#shared/environments/setup-snapshot-store.ts";
import { RunyardError } from "#shared/errors.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { sha256 } from "#shared/ids.ts";
import type { Checkpoint, SnapshotFile } from "#shared/records/checkpoint.ts";
import { readRunHeads } from "#shared/records/read-run-heads.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { type ExecutingHead, parseOwner } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { RunSetup, SavedFile, SetupReport } from "#shared/wire/executions/setup-snapshot.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** Changes when a harness would not understand the snapshots of an earlier release. */
const FORMAT = 1;

/** Describes the setup snapshot of the environment to a new execution. Runs without setup commands have none, and cost no read of it. */
export async function describeSetup(
  head: ExecutingHead,
  body: RunBody,
  { generation }: Checkpoint,
  ports: RunPorts,
): Promise<{ setup_snapshot?: RunSetup }> {
  const uid = body.config.environment_id;
  const hasCommands = (body.setup_commands ?? []).length > 0;
  if (uid === undefined || !hasCommands || generation !== undefined || body.execution_location === "LOCAL") return {};
  const inputs = await hashInputs(head, body, ports);
  if (isSetupOnly(head, body)) return { setup_snapshot: { inputs, keep: true } };
  const snapshot = await setupSnapshotStore(uid, parseOwner(head), ports.table).read();
  if (snapshot === undefined || !(await hasFiles(snapshot, ports))) return { setup_snapshot: { inputs } };
  const { run_id, created_at, platform, clones } = snapshot;
  const summary = { run_id, created_at: toTimestamp(created_at), platform, clones };
  if (snapshot.inputs !== inputs) return { setup_snapshot: { inputs, made: summary } };
  return { setup_snapshot: { inputs, made: { ...summary, files: await toSavedFiles(snapshot.files, ports) } } };
}

/** Whether storage has the files of a snapshot, which are deleted with the run that made it. */
const hasFiles = async (snapshot: ShownSnapshot, { table, now }: RunPorts): Promise<boolean> =>
  !isExpired(snapshot, now()) && (await readRunHeads([snapshot.run_id], table)).length > 0;

/** Whether nothing but the prompt of the service was part of the run, so that its workspace has nothing but the setup. */
const isSetupOnly = ({ followups }: ExecutingHead, { sets_up }: RunBody): boolean =>
  sets_up === true && followups === 0;

/**
 * A digest of what a setup depends on. Values of secrets have ids, of which none has another value. The owner is part of it, so that no
 * run of others starts with these files, and so is the worker, whose machine differs.
 */
async function hashInputs(head: ExecutingHead, body: RunBody, { table }: RunPorts): Promise<string> {
  const owner = parseOwner(head);
  const { config, secrets = [], setup_commands, docker_image, variables, providers, network } = body;
  const names = secrets.filter(({ refused }) => refused === undefined).map(({ name }) => name);
  const versions = await secretStore(table).getMany(owner.uid, names);
  return sha256(
    canonicalJson({
      format: FORMAT,
      owner,
      environment: config.environment_id,
      repositories: config.repositories ?? [],
      setup_commands,
      secrets: versions.map(({ name, id }) => `${name} ${id}`).toSorted(),
      ...(config.commit_author === undefined ? {} : { commit_author: config.commit_author }),
      ...(docker_image === undefined ? {} : { docker_image }),
      ...(variables === undefined ? {} : { variables }),
      ...(providers === undefined ? {} : { providers }),
      ...(network === undefined ? {} : { network }),
      ...(head.worker_host === undefined ? {} : { worker_host: head.worker_host }),
    }),
  );
}

/** Download URLs of the files of a snapshot. */
export function toSavedFiles(
  files: readonly SnapshotFile[],
  ports: Pick<RunPorts, "files">,
): Promise<v.InferOutput<typeof SavedFile>[]> {
  const snapshotFiles = files.map(async ({ filename, mime_type, size_bytes, file }) => {
    const { url } = await ports.files.downloadUrl(file, { filename, contentType: mime_type });
    return { filename, download_url: url, mime_type, size_bytes };
  });
  return Promise.all(snapshotFiles);
}

/** Refuses to keep the files of a run that did anything else than to set up its environment. */
export async function refuseOtherSetup(head: ExecutingHead, ports: RunPorts): Promise<RunBody> {
  const body = await ports.runs.body(head.run_id);
  if (isSetupOnly(head, body)) return body;
  throw new RunyardError("conflict", {
    detail: "setup: only a run that sets up its environment and has no follow-up makes a setup snapshot; leave it out",
    retryable: false,
  });
}

/** Makes committed files the setup snapshot of the run's environment, unless its inputs have changed since the execution began. */
export async function keepSetup(
  head: ExecutingHead,
  body: RunBody,
  { inputs, platform, clones }: SetupReport,
  files: readonly SnapshotFile[],
  ports: RunPorts,
): Promise<void> {
  const uid = body.config.environment_id;
  if (uid === undefined || inputs !== (await hashInputs(head, body, ports))) return;
  const size_bytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
  const snapshotRecord = {
    run_id: head.run_id,
    created_at: ports.now(),
    size_bytes,
    inputs,
    platform,
    clones,
    files: [...files],
  };
  await setupSnapshotStore(uid, parseOwner(head), ports.table).replace(snapshotRecord);
}
