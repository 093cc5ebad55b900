import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { connect, expectEqual, expectStatus, type Service, toPrompt } from "../../operate/smoke/service.ts";
import { Problem } from "../../server/host/terminal.ts";

/** What the drill creates in a deployment, by which it finds it again. */
export interface DrillData {
  readonly runId: string;
  readonly artifactId: string;
  readonly scheduleId: string;
  /** A key that was created through the API. */
  readonly key: string;
}

const TRANSCRIPT_SECONDS = 30;

const Artifact = v.object({ data: v.object({ download_url: v.string() }) });
const Created = v.object({ id: v.string() });
const CreatedKey = v.object({ key: v.string() });

/** Creates a run with an artifact, a schedule and a key. */
export async function createData(service: Service): Promise<DrillData> {
  const key = v.parse(CreatedKey, expectStatus(await service.call("POST", "/agent/keys", { name: "drill" }), 201));
  const schedule = expectStatus(
    await service.call("POST", "/agent/schedules", {
      name: "Drill",
      cron_schedule: "0 3 1 1 *",
      prompt: toPrompt("true"),
    }),
    201,
  );
  const runId = await service.create('echo kept; echo kept > "$RUNYARD_OUTPUT/kept.txt"');
  const run = await service.wait(runId);
  if (run.state !== "SUCCEEDED")
    throw new Problem(`The run ended in ${run.state}: ${run.status_message?.message ?? ""}`);
  const [artifact] = run.artifacts;
  if (artifact === undefined) throw new Problem("The run has no artifact.");
  await readTranscript(service, runId);
  return {
    runId,
    artifactId: artifact.data.artifact_uid,
    scheduleId: v.parse(Created, schedule).id,
    key: key.key,
  };
}

/** What a deployment responds to requests for the data, by what was requested, with the contents of its files. */
export async function readData(
  baseUrl: string,
  { runId, artifactId, scheduleId, key }: DrillData,
): Promise<Record<string, unknown>> {
  const service = connect(baseUrl, key);
  const get = async (target: string) => expectStatus(await service.call("GET", target), 200);
  const targets = [
    ...["", "/conversation", "/timeline"].map((part) => `/agent/runs/${runId}${part}`),
    `/agent/schedules/${scheduleId}`,
    "/agent/keys",
  ];
  const responses: Record<string, unknown> = {};
  for (const target of targets) responses[target] = await get(target);
  const { data } = v.parse(Artifact, await get(`/agent/artifacts/${artifactId}`));
  responses["artifact"] = await (await fetch(data.download_url)).text();
  expectEqual("content of the artifact", responses["artifact"], "kept\n");
  responses["transcript"] = await readTranscript(service, runId);
  return responses;
}

/** The transcript is composed shortly after the end of a run. */
async function readTranscript({ call }: Service, runId: string): Promise<unknown> {
  for (const deadline = Date.now() + TRANSCRIPT_SECONDS * 1_000; ; await pause(500)) {
    const { status, location } = await call("GET", `/agent/runs/${runId}/transcript`);
    if (status === 302 && location !== null) return (await fetch(location)).text();
    if (Date.now() > deadline)
      throw new Problem(`The run has no transcript ${TRANSCRIPT_SECONDS} seconds after its end.`);
  }
}

/** @throws Problem if a response lacks or changes something that it had before; a later release may add members */
export function throwIfChanged(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): void {
  const lines = Object.entries(before).flatMap(([target, value]) => findChanges(target, value, after[target]));
  if (lines.length > 0) throw new Problem("Data that existed before has changed.", lines.slice(0, 10));
}

/** Members that change with each use, or with the address of the web app. */
const VOLATILE = new Set(["last_used_at", "session_link"]);

function findChanges(place: string, before: unknown, after: unknown): string[] {
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null) {
    return Object.is(before, after) ? [] : [`${place}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`];
  }
  if (Array.isArray(before) && (!Array.isArray(after) || after.length !== before.length)) {
    return [`${place}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`];
  }
  return Object.entries(before)
    .filter(([name]) => !VOLATILE.has(name))
    .flatMap(([name, value]) => findChanges(`${place}.${name}`, value, Reflect.get(after, name)));
}
