import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { expectEqual, expectStatus, type Service, toPrompt } from "./service.ts";

interface Check {
  readonly name: string;
  /** Whether it waits for the next minutes. */
  readonly isSlow?: true;
  check(service: Service): Promise<void>;
}

const Url = v.object({ data: v.object({ download_url: v.string() }) });
const FIRING_MS = 180_000;

/** What a deployment must be able to do, each check by itself. */
export const checks: readonly Check[] = [
  {
    name: "a wrong key is refused, and a right one is not",
    async check({ call }) {
      expectStatus(await call("GET", "/agent/models"), 200);
      expectStatus(await call("GET", "/agent/models", undefined, { authorization: "Bearer wrong" }), 401);
      expectStatus(await call("GET", `/agent/runs/${randomUUID()}`), 404);
    },
  },
  {
    name: "a run executes commands and stores a file, a conversation, a timeline and a transcript",
    async check({ call, create, wait }) {
      const word = randomUUID();
      const runId = await create(`echo said-${word}; echo -n ${word} > "$RUNYARD_OUTPUT/smoke.txt"`);
      const run = await wait(runId);
      expectEqual("state", `${run.state} ${run.status_message?.message ?? ""}`.trim().split(" ")[0], "SUCCEEDED");
      const [artifact] = run.artifacts;
      if (artifact === undefined) throw new Error("the run has no artifact");
      const reply = await call("GET", `/agent/artifacts/${artifact.data.artifact_uid}`);
      const { download_url: url } = v.parse(Url, expectStatus(reply, 200)).data;
      expectEqual("file", await (await fetch(url)).text(), word);
      const conversation = expectStatus(await call("GET", `/agent/runs/${runId}/conversation`), 200);
      if (!JSON.stringify(conversation).includes(`said-${word}`)) throw new Error("the conversation lacks the output");
      expectStatus(await call("GET", `/agent/runs/${runId}/timeline`), 200);
      await expectTranscript(runId, call);
    },
  },
  {
    name: "a repeated request creates one run",
    async check({ create, wait }) {
      const headers = { "idempotency-key": randomUUID() };
      const runId = await create("true", headers);
      expectEqual("run", await create("true", headers), runId);
      await wait(runId);
    },
  },
  {
    name: "a follow-up continues a run in its workspace",
    async check({ call, create, wait }) {
      const runId = await create("echo kept > kept.txt");
      expectEqual("state", (await wait(runId)).state, "SUCCEEDED");
      const message = toPrompt("cat kept.txt");
      expectStatus(await call("POST", `/agent/runs/${runId}/followups`, { message }), 200);
      expectEqual("state", (await wait(runId)).state, "SUCCEEDED");
      const conversation = expectStatus(await call("GET", `/agent/runs/${runId}/conversation`), 200);
      if (!/"kept\\n/.test(JSON.stringify(conversation))) throw new Error("the follow-up did not find the file");
    },
  },
  {
    name: "a cancel ends a run while it executes",
    async check({ call, create, wait }) {
      const runId = await create("sleep 300");
      expectEqual("state", (await wait(runId, "INPROGRESS")).state, "INPROGRESS");
      expectStatus(await call("POST", `/agent/runs/${runId}/cancel`), 200);
      expectEqual("state", (await wait(runId)).state, "CANCELLED");
    },
  },
  {
    name: "a schedule fires",
    isSlow: true,
    async check({ call }) {
      const body = { name: `Smoke ${randomUUID()}`, cron_schedule: "* * * * *", prompt: toPrompt("true") };
      const schedule = expectStatus(await call("POST", "/agent/schedules", body), 201);
      const { id } = v.parse(v.object({ id: v.string() }), schedule);
      try {
        for (const deadline = Date.now() + FIRING_MS; ; await pause(5_000)) {
          const reply = expectStatus(await call("GET", `/agent/schedules/${id}/ticks`), 200);
          const { ticks } = v.parse(v.object({ ticks: v.array(v.object({ outcome: v.string() })) }), reply);
          if (ticks.some(({ outcome }) => outcome === "fired")) return;
          if (Date.now() > deadline) throw new Error(`no firing in three minutes: ${JSON.stringify(ticks)}`);
        }
      } finally {
        await call("DELETE", `/agent/schedules/${id}`);
      }
    },
  },
];

/** Sends one prompt to a model. */
export const checkModel = (model: string): Check => ({
  name: `${model} answers`,
  async check({ call, wait }) {
    const body = { prompt: "Reply with the word ready, and use no tools.", config: { model_id: model } };
    const created = expectStatus(await call("POST", "/agent/runs", body), 200);
    const run = await wait(v.parse(v.object({ run_id: v.string() }), created).run_id);
    if (run.state === "SUCCEEDED") return;
    const why = run.status_message?.message ?? run.state;
    const hint = model.startsWith("bedrock/") ? '; see "The first model" in docs/aws.md' : "";
    throw new Error(`${why}${hint}`);
  },
});

/** The transcript is composed shortly after the end. */
async function expectTranscript(runId: string, call: Service["call"]): Promise<void> {
  for (let attempt = 0; attempt < 30; attempt++) {
    const { status, location } = await call("GET", `/agent/runs/${runId}/transcript`);
    if (status === 302 && location !== null) return expectEqual("transcript", (await fetch(location)).status, 200);
    await pause(1_000);
  }
  throw new Error("there is no transcript half a minute after the end");
}
