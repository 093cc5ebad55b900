import { memoryTable } from "#shared/table/memory-table.ts";
import { createClient } from "./client.ts";
import { type CallOptions, createTestControlPlane, type TestControlPlane } from "./control-plane.ts";
import { createHarness, createRun, deliver, workingRun } from "./execution.ts";
import type { Around } from "./faults.ts";
import { makeSchedule } from "./schedules.ts";
import { startSession } from "./web-sessions.ts";

/** Every kind of caller that could request one run, as the names of the rows of the matrix. */
export const PRINCIPALS = [
  "creator",
  "teammate",
  "agent of the team",
  "removed member",
  "another team's member",
  "another team's agent",
  "the run itself",
  "the run's parent",
  "another run of the team",
  "the run's dead execution",
  "creator's web session",
] as const;
const SESSION = "creator's web session";
export type PrincipalName = (typeof PRINCIPALS)[number];
/** The principals that have a key. */
export type KeyPrincipalName = Exclude<PrincipalName, typeof SESSION>;

export interface Stage {
  readonly plane: TestControlPlane;
  /** The run that is requested: an executing child of an executing parent. */
  readonly runId: string;
  readonly executionId: string;
  readonly artifactUid: string;
  /** A schedule of the team, which the creator made. */
  readonly scheduleId: string;
  /** An identity of the team, with a key that is not used for calls. */
  readonly identityUid: string;
  readonly identityKeyUid: string;
  /** A second key of the creator's. */
  readonly ownKeyUid: string;
  /** The teammate. */
  readonly memberUid: string;
  /** Ids that `prepare` created for a route, by the name of the path parameter. */
  readonly made: Map<string, string>;
  readonly key: (name: KeyPrincipalName) => string;
  /** The key of a principal, or the headers of its web session. */
  readonly credentials: (name: PrincipalName) => Pick<CallOptions, "key" | "headers">;
  /** Ends the run, with its transcript. */
  readonly end: () => Promise<void>;
}

/** Creates an executing run with all of these principals. AWS calls go through `around`. */
export async function makeStage(around?: Around): Promise<Stage> {
  const plane = await createTestControlPlane(memoryTable(), around);
  const member = await plane.person("Mia");
  const removed = await plane.person("Rob");
  const agent = await plane.agent();
  const bystander = await plane.agent("bystander");
  const foreignAgent = await plane.agent("theirs", plane.otherTeam);
  const parent = await workingRun(plane, { prompt: "parent" });
  const other = await workingRun(plane, { prompt: "other" });
  const runId = await createRun(plane, { prompt: "child", parent_run_id: parent.run_id });
  const dead = createHarness(plane, await plane.dispatch(runId));
  await dead.resolve();
  await dead.shutDown();
  const run = createHarness(plane, await plane.dispatch(runId));
  // Without an instance of its own, so that calls without the header are this harness's too.
  await createClient(plane, run.key).post("/harness-support/resolve-prompt", {});
  const content = "content";
  const file = {
    filepath: "a.txt",
    filename: "a.txt",
    mime_type: "text/plain",
    size_bytes: content.length,
    sha256: "0".repeat(64),
  };
  const report = () => run.support("report-artifact", { artifact_type: "FILE", data: file });
  const target = await report();
  await plane.upload(target.body.upload.url, content);
  await report();
  const schedule = await makeSchedule(plane);
  await plane.removeMember(removed.uid);
  const session = await startSession(plane);
  const of: Record<KeyPrincipalName, string> = {
    creator: plane.key,
    teammate: member.key,
    "agent of the team": agent.key,
    "removed member": removed.key,
    "another team's member": plane.otherKey,
    "another team's agent": foreignAgent.key,
    "the run itself": run.key,
    "the run's parent": parent.key,
    "another run of the team": other.key,
    "the run's dead execution": dead.key,
  };
  return {
    plane,
    runId,
    executionId: run.execution_id,
    artifactUid: target.body.artifact_uid,
    scheduleId: schedule.id,
    identityUid: bystander.uid,
    identityKeyUid: bystander.keyUid,
    ownKeyUid: (await createClient(plane).post("/agent/keys", { name: "spare" })).body.uid,
    memberUid: member.uid,
    made: new Map(),
    key: (name) => of[name],
    credentials: (name) => (name === SESSION ? { key: undefined, headers: session.headers } : { key: of[name] }),
    async end() {
      await run.finish();
      await deliver(plane);
    },
  };
}
