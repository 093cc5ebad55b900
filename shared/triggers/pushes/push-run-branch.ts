import { RunyardError } from "#shared/errors.ts";
import { addClientEvent, countClientEvent } from "#shared/executions/client-events.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { type BranchToPush, findPush, type OwnBranch } from "#shared/records/run-body.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { PushBranchRequest, PushBranchResponse } from "#shared/wire/executions/push-branch.ts";
import type { AccessPorts } from "../access.ts";
import { nameCredential, readCredential } from "../systems/credential.ts";
import { triggerStore } from "../trigger-store.ts";

type PushPorts = RunPorts & AccessPorts;

/** Characters of a commit's id in messages and in the timeline. */
const SHORT_ID = 12;

/**
 * Pushes commits to the branch in the run's record. The first request returns where to upload the objects; the same request after the
 * upload pushes them. A repeated request pushes nothing twice.
 */
export async function pushRunBranch(
  head: ExecutingHead,
  request: PushBranchRequest,
  ports: PushPorts,
): Promise<PushBranchResponse> {
  const { run_id, execution_id } = head;
  const target = findPush(await ports.runs.body(run_id));
  if (target === undefined) throw refused("this run has no branch that it may push to");
  const file = fileKeys.pack(run_id, execution_id, request.sha256);
  if ((await ports.files.size(file)) !== request.size_bytes) {
    await countRequest(head, ports);
    const { size_bytes: sizeBytes, sha256 } = request;
    return { upload: await ports.files.uploadTarget(file, { sizeBytes, sha256, contentType: PACK_TYPE }) };
  }
  const failure = await push(target, request.commit, file, ports);
  await record(head, target, request.commit, failure, ports);
  if (failure !== undefined) throw refused(failure);
  return { branch: target.branch };
}

const PACK_TYPE = "application/x-git-packed-objects";

const refused = (detail: string): RunyardError => new RunyardError("conflict", { detail, retryable: false });

/** Returns why the commit was not pushed; undefined if it was. */
async function push(
  { system, repository, branch, installation_id, trigger_id }: OwnBranch,
  commit: string,
  file: string,
  ports: PushPorts,
): Promise<string | undefined> {
  const { files, systems } = ports;
  const trigger = await triggerStore(ports.table).get(trigger_id);
  const named = trigger && nameCredential(trigger, { installationId: installation_id });
  if (named === undefined) return "the trigger of the run was deleted, or has no credential";
  const { url: pack_url } = await files.downloadUrl(file, { filename: "objects.pack", contentType: PACK_TYPE });
  try {
    const credential = await readCredential(named, ports);
    const request = { action: "push_branch", system, ...credential, repository, branch, commit, pack_url } as const;
    return (await systems.call(request)).failure;
  } catch (error) {
    if (error instanceof RunyardError) return error.message;
    throw error;
  }
}

const FULL = {
  detail: `a run stores at most ${RUN_CAPS.clientEvents} client events, of which each push is two`,
  retryable: false,
} as const;

/** Counts an upload as a client event, which limits the uploads of a run. */
async function countRequest(first: ExecutingHead, ports: PushPorts): Promise<void> {
  await changeExecution(first, ports, (head) => {
    const { client_events } = head;
    return {
      change: {
        events: [],
        set: countClientEvent(head, ports.now(), FULL),
        // Without an event, only this condition makes concurrent requests count each.
        if: { client_events: client_events === 0 ? { absentOr: { eq: 0 } } : { eq: client_events } },
      },
      result: undefined,
    };
  });
}

/** Shows a push in the timeline, once for the same commit and result. */
async function record(
  first: ExecutingHead,
  { repository, branch }: BranchToPush,
  commit: string,
  failure: string | undefined,
  ports: PushPorts,
): Promise<void> {
  const marker = failure === undefined ? `push:${commit}` : `push:${commit}:${sha256(failure)}`;
  const what = `${commit.slice(0, SHORT_ID)} to ${branch} of ${repository}`;
  const detail = failure === undefined ? `pushed ${what}` : `did not push ${what}: ${failure}`;
  const data = { commit, branch, repository, detail, ...(failure === undefined ? {} : { is_error: true }) };
  await addClientEvent(first, { id: marker, entry: { type: "branch_pushed", data }, refusal: FULL }, ports);
}
