import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, localRun, nextExecution, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const described = (text: string) => ({
  size_bytes: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
});

/** Reports a file once and uploads it. */
async function uploadFile(harness: Harness, filepath = "out/report.txt", content = filepath): Promise<void> {
  const data = { filepath, filename: "report.txt", mime_type: "text/plain", ...described(content) };
  const { body } = await harness.support("report-artifact", { artifact_type: "FILE", data });
  await plane.upload(body.upload.url, content);
}

/** Uploads a raw transcript by a form, which nothing confirms. */
async function uploadTranscript(harness: Harness, content: string): Promise<void> {
  await harness.support("external-conversation", { format: "claude" });
  const { body } = await harness.support("transcript", { conversation_id: harness.run_id });
  await plane.upload(body.url, content);
}

const user = () => createClient(plane);
const listFiles = async (runId: string): Promise<string[]> =>
  (await user().get(`/agent/runs/${runId}`)).body.artifacts.map(
    ({ data }: { data: { filepath: string } }) => data.filepath,
  );

async function readRawTranscript(runId: string): Promise<string> {
  const { headers } = await user().get(`/agent/runs/${runId}/transcript`);
  return plane.download(headers["location"] ?? "https://runyard.test/none");
}

/** A run whose execution a worker has begun. */
async function runOfWorker() {
  const worker = await connectedWorker(plane);
  const run = await createRun(plane, { prompt: "work", config: { worker_host: "rack-7" } });
  await deliver(plane);
  await worker.claim(run);
  const harness = worker.harness();
  await harness.resolve();
  return { worker, harness };
}

async function startedLocally(): Promise<Harness> {
  const harness = await localRun(plane);
  await harness.resolve();
  return harness;
}

/** The time after which each lease has expired. */
const expire = async () => {
  plane.clock.now += 600_000;
  await reap(plane);
};

/** Ways in which a run ends other than by finish-task. Each uploads with `upload` before the end. */
const ENDS: Record<string, (upload: (harness: Harness) => Promise<void>) => Promise<Harness>> = {
  "a worker reports task_completed": async (upload) => {
    const { worker, harness } = await runOfWorker();
    await upload(harness);
    await worker.send("task_completed", { task_id: harness.run_id, message: "done" });
    return harness;
  },
  "a worker reports task_failed": async (upload) => {
    const { worker, harness } = await runOfWorker();
    await upload(harness);
    await worker.send("task_failed", { task_id: harness.run_id, message: "broken" });
    return harness;
  },
  "a LOCAL run is cancelled by force": async (upload) => {
    const harness = await startedLocally();
    await upload(harness);
    await user().post(`/agent/runs/${harness.run_id}/cancel?force=true`, undefined);
    return harness;
  },
  "a run is cancelled": async (upload) => {
    const harness = await workingRun(plane);
    await upload(harness);
    await user().post(`/agent/runs/${harness.run_id}/cancel`, undefined);
    return harness;
  },
  "the caller of a LOCAL run is lost": async (upload) => {
    const harness = await startedLocally();
    await upload(harness);
    await expire();
    return harness;
  },
  "a LOCAL run reports its shutdown": async (upload) => {
    const harness = await startedLocally();
    await upload(harness);
    await harness.shutDown({ error: { category: "crash", message: "gone" } });
    return harness;
  },
  "the last of too many executions is lost": async (upload) => {
    let harness = await workingRun(plane);
    for (;;) {
      await upload(harness);
      await harness.shutDown({ error: { category: "crash", message: "gone" } });
      if ((await readState(plane, harness.run_id)) === "ERROR") return harness;
      harness = await nextExecution(plane);
      await harness.resolve();
    }
  },
};

describe("what an execution has uploaded is kept when", () => {
  it.each(Object.entries(ENDS))("%s", async (_, end) => {
    const { run_id } = await end(async (harness) => {
      await uploadFile(harness, `out/${harness.execution_id}.txt`);
      await uploadTranscript(harness, harness.execution_id);
    });
    await deliver(plane);
    const head = await plane.ports.runs.head(run_id);
    expect(await listFiles(run_id)).toContain(`out/${head?.execution_id}.txt`);
    expect(await readRawTranscript(run_id)).toBe(head?.execution_id);
  });

  it("its lease expires and the run is queued again, and not a second time at the end", async () => {
    const first = await workingRun(plane);
    await uploadFile(first, "out/first.txt");
    await first.shutDown({ error: { category: "crash", message: "gone" } });
    await deliver(plane, "ends");
    expect(await listFiles(first.run_id)).toEqual(["out/first.txt"]);
    const second = await nextExecution(plane);
    await second.resolve();
    await second.finish();
    await deliver(plane);
    expect(await listFiles(first.run_id)).toEqual(["out/first.txt"]);
  });

  it("the message about the end is delivered again, once", async () => {
    const harness = await startedLocally();
    await uploadFile(harness);
    await user().post(`/agent/runs/${harness.run_id}/cancel?force=true`, undefined);
    await deliver(plane);
    const before = structuredClone(plane.table.all());
    await plane.ports.queue.sendEnd(harness.run_id, { type: "Team", uid: plane.team });
    await deliver(plane);
    expect(plane.table.all()).toEqual(before);
  });
});

describe("what is not uploaded in full", () => {
  it("stays invisible after a forced cancel", async () => {
    const harness = await startedLocally();
    const data = { filepath: "out/a.txt", filename: "a.txt", mime_type: "text/plain", ...described("whole") };
    const { body } = await harness.support("report-artifact", { artifact_type: "FILE", data });
    await plane.upload(body.upload.url, "who");
    await user().post(`/agent/runs/${harness.run_id}/cancel?force=true`, undefined);
    await deliver(plane);
    expect(await listFiles(harness.run_id)).toEqual([]);
  });
});

describe("the composed transcript of a cancelled run", () => {
  it("contains the event of a file that was kept at the end", async () => {
    const harness = await startedLocally();
    await uploadFile(harness);
    await user().post(`/agent/runs/${harness.run_id}/cancel?force=true`, undefined);
    await deliver(plane);
    expect(await readRawTranscript(harness.run_id)).toContain("artifact_created");
  });
});
