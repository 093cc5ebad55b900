import { createClient } from "../support/client.ts";
import { createHarness } from "../support/execution.ts";
import type { Stage } from "./scenario.ts";

/** One thing that users do, told as what they and their harness send. It ends when the service has come to rest. */
export interface Scenario {
  readonly name: string;
  run(stage: Stage): Promise<void>;
  /** How the runs end, and how many there are. */
  readonly runs: { readonly state: string; readonly count: number; readonly messages?: number } | undefined;
  /** What counts as the same where a function died, with the name that both get; an empty one leaves the item out. */
  readonly alike?: readonly (readonly [RegExp, string])[];
}

const headers = (key: string) => ({ headers: { "idempotency-key": key } });

async function create(stage: Stage, body: Record<string, unknown> = { prompt: "hello" }): Promise<string> {
  const { body: created } = await stage.done("create-run", () =>
    stage.user.post("/agent/runs", body, headers("create")),
  );
  return created.run_id;
}

const event = (event_name: string, n: number) => ({
  event_uuid: `0193a4b0-0000-7000-8000-00000000000${n}`,
  event_name,
  timestamp: "2026-05-18T19:00:00.000Z",
});

export const scenarios: readonly Scenario[] = [
  {
    name: "a run with messages and a file, to its end",
    runs: { state: "SUCCEEDED", count: 1, messages: 2 },
    async run(stage) {
      stage.agent = async (harness, { plane }) => {
        const { execution_id } = harness;
        await stage.told("client-events", () => harness.event(event("agent_started", 1)));
        await stage.told("messages", () => harness.messages(1, "I begin", "I go on"));
        await stage.told("heartbeat", () => harness.beat());
        const file = {
          artifact_type: "FILE",
          data: { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain", size_bytes: 5, sha256: SHA256 },
        };
        const target = await stage.told("report-artifact", () => harness.support("report-artifact", file));
        if (target.status !== 200)
          throw new Error(`report-artifact of ${execution_id}: ${JSON.stringify(target.body)}`);
        if (target.body.upload !== undefined) await plane.upload(target.body.upload.url, "hello");
        await stage.told("finish-task", () => harness.finish());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a follow-up while the run works, and one after it has ended",
    runs: { state: "SUCCEEDED", count: 1, messages: 3 },
    async run(stage) {
      let asked = false;
      stage.agent = async (harness) => {
        const { body } = await stage.told("resolve-prompt", () => harness.resolve());
        let next: number = body.context.next_sequence;
        let followups: { number: number }[] = body.context.followups;
        if (next === 1)
          next = (await stage.told("messages", () => harness.messages(1, "the first answer"))).body.next_sequence;
        if (!asked) {
          asked = true;
          await stage.done("send-followup", () =>
            stage.user.post(`/agent/runs/${harness.run_id}/followups`, { message: "and then" }, headers("one")),
          );
        }
        if (followups.length === 0) followups = (await stage.told("heartbeat", () => harness.beat())).body.followups;
        for (const { number } of followups) {
          next = (await stage.told("messages", () => harness.messages(next, `answer ${number}`))).body.next_sequence;
          await stage.told("heartbeat", () => harness.beat(number));
        }
        await stage.told("finish-task", () => harness.finish());
      };
      const run = await create(stage);
      await stage.settle();
      await stage.done("send-followup", () =>
        stage.user.post(`/agent/runs/${run}/followups`, { message: "once more" }, headers("two")),
      );
      await stage.settle();
    },
  },
  {
    name: "a run that asks its user, and goes on with the answer",
    runs: { state: "SUCCEEDED", count: 1, messages: 2 },
    async run(stage) {
      let asked = false;
      const plan = { artifact_type: "PLAN", data: { document_uid: "plan", content: "# Plan" } };
      const pull = { artifact_type: "PULL_REQUEST", data: { url: "https://github.com/a/b/pull/1", branch: "b" } };
      stage.agent = async (harness) => {
        if (!asked) {
          asked = true;
          await stage.told("report-artifact", () => harness.support("report-artifact", plan));
          await stage.told("messages", () => harness.messages(1, "Which one?"));
          const question = { success: false, blocked: true, summary: "Which one?" };
          await stage.told("finish-task", () => harness.support("finish-task", question));
          return;
        }
        await stage.told("notify-user", () => harness.support("notify-user", { message: "nearly done" }));
        await stage.told("report-artifact", () => harness.support("report-artifact", pull));
        const { body } = await stage.told("resolve-prompt", () => harness.resolve());
        await stage.told("messages", () => harness.messages(body.context.next_sequence, "Then the second."));
        await stage.told("heartbeat", () => harness.beat(1));
        await stage.told("finish-task", () => harness.finish());
      };
      const run = await create(stage);
      await stage.settle();
      await stage.done("send-followup", () =>
        stage.user.post(`/agent/runs/${run}/followups`, { message: "the second" }, headers("answer")),
      );
      await stage.settle();
    },
  },
  {
    name: "a cancel of a run at work, whose harness says that it has stopped",
    runs: { state: "CANCELLED", count: 1, messages: 1 },
    async run(stage) {
      stage.agent = async (harness) => {
        await stage.told("messages", () => harness.messages(1, "I begin"));
        await stage.done("cancel-run", () =>
          stage.user.post(`/agent/runs/${harness.run_id}/cancel`, undefined, headers("cancel")),
        );
        await stage.told("heartbeat", () => harness.beat());
        await stage.told("report-shutdown", () => harness.shutDown());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a run in a MicroVM, lost once, whose provider stops what it leaves behind",
    runs: { state: "SUCCEEDED", count: 1 },
    // A sandbox that was started and not noted is found by nobody: it ends with its time.
    alike: [[/"provider":"microvm","handle":"[^"]*"/, "<placed>"]],
    async run(stage) {
      stage.plane.offered.splice(0, 1, "microvm");
      let isLost = false;
      stage.agent = async (harness) => {
        if (isLost) await stage.told("finish-task", () => harness.finish());
        else await stage.told("report-shutdown", () => harness.shutDown());
        isLost = true;
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a cancel of a run in a container, which its provider stops",
    runs: { state: "CANCELLED", count: 1 },
    // Where nobody noted that it was gone, its time has run out.
    alike: [[/"confirmed_by":"(provider|timeout)"/, "<stopped>"]],
    async run(stage) {
      const { plane, user } = stage;
      plane.offered.push("fargate");
      const { body: environment } = await stage.done("create-environment", () =>
        user.post("/agent/environments", { name: "py", docker_image: "python:3.13" }, headers("environment")),
      );
      stage.agent = async (harness) => {
        plane.stopResponses.push(false);
        await stage.done("cancel-run", () =>
          user.post(`/agent/runs/${harness.run_id}/cancel`, undefined, headers("cancel")),
        );
      };
      await create(stage, { prompt: "hello", config: { environment_id: environment.uid } });
      await stage.settle();
    },
  },
  {
    name: "a run that waits for the one slot of its team",
    runs: { state: "SUCCEEDED", count: 2 },
    // A message that is handled on its second delivery finds the slot free, so the run does not wait.
    alike: [[/^.*"type":"run_waiting".*$/, ""]],
    async run(stage) {
      const { plane, user } = stage;
      await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
      let second: string | undefined;
      stage.agent = async (harness) => {
        if (second === undefined) {
          const response = await stage.done("create-run", () =>
            user.post("/agent/runs", { prompt: "b" }, headers("second")),
          );
          second = response.body.run_id;
          // It is delivered while the first still works.
          await stage.deliverAll();
        }
        await stage.told("finish-task", () => harness.finish());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a child run, made with its parent's key",
    runs: { state: "SUCCEEDED", count: 2 },
    async run(stage) {
      let made = false;
      stage.agent = async (harness) => {
        if (!made) {
          made = true;
          const parent = createClient(stage.plane, harness.key);
          await stage.done("create-run", () => parent.post("/agent/runs", { prompt: "part" }, headers("child")));
        }
        await stage.told("finish-task", () => harness.finish());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a run that its caller executes",
    runs: { state: "SUCCEEDED", count: 1, messages: 1 },
    async run(stage) {
      const body = { prompt: "hello", execution_location: "LOCAL" };
      // The key is shown once: whoever misses it makes a new run, so nothing is repeated here but what has the key.
      const { body: created } = await stage.user.post("/agent/runs", body);
      const head = await stage.plane.ports.runs.head(created.run_id);
      const harness = createHarness(stage.plane, {
        version: 1,
        base_url: "",
        model_url: "",
        run_id: created.run_id,
        execution_id: head?.execution_id ?? "",
        key: created.run_key,
      });
      await stage.told("messages", () => harness.messages(1, "done"));
      await stage.told("finish-task", () => harness.finish());
      await stage.settle();
    },
  },
  {
    name: "a new key of one's own, and its end",
    runs: undefined,
    async run(stage) {
      await stage.told("create-key", () => stage.user.post("/agent/keys", { name: "ci" }, headers("key")));
      // A key is shown once: whoever missed it finds it in the list, and deletes it.
      const { body } = await stage.user.get("/agent/keys");
      const made = body.keys.filter(({ name }: { name: string }) => name === "ci");
      if (made.length !== 1) throw new Error(`${made.length} keys were made`);
      await stage.told("delete-key", () => stage.user.delete(`/agent/keys/${made[0].uid}`));
    },
  },
  {
    name: "an identity with a key, a waiting run and a schedule, deleted",
    runs: { state: "FAILED", count: 1 },
    // Whether the deletion ends the run and pauses the schedule, or the dispatch and the firing that find it gone.
    alike: [
      [
        /the identity builder that the run was for is deleted|the identity that the run was created for is deleted/,
        "<gone>",
      ],
      [/the identity builder is deleted|agent_uid: there is no such identity in the team/, "<gone>"],
      [/^.*"sk":"TICK#.*$/, ""],
      [/"(plan|revision)":\d+/g, "<n>"],
    ],
    async run(stage) {
      const { user } = stage;
      const { body: identity } = await stage.done("create-identity", () =>
        user.post("/agent/identities", { name: "builder" }, headers("identity")),
      );
      await stage.told("create-identity-key", () =>
        user.post(`/agent/identities/${identity.uid}/keys`, { name: "ci" }, headers("identity-key")),
      );
      const { body: schedule } = await stage.done("create-schedule", () =>
        user.post(
          "/agent/schedules",
          { name: "n", cron_schedule: "0 3 * * *", prompt: "p", agent_uid: identity.uid },
          headers("schedule"),
        ),
      );
      await create(stage, { prompt: "hello", agent_identity_uid: identity.uid });
      await stage.told("delete-identity", () => user.delete(`/agent/identities/${identity.uid}`));
      await stage.settle();
      // What the deletion did not come to is found when the schedule is to fire.
      stage.plane.clock.now = Date.parse("2026-05-19T03:00:05Z");
      await stage.timerOff(schedule.id, "2026-05-19T03:00:00.000Z");
      await stage.settle();
    },
  },
  {
    name: "a firing of a schedule, told of twice",
    runs: { state: "SUCCEEDED", count: 1 },
    // A timer's message that is handled on its second delivery comes late.
    alike: [[/"outcome":"late"/, '"outcome":"fired"']],
    async run(stage) {
      const { body: schedule } = await stage.done("create-schedule", () =>
        stage.user.post(
          "/agent/schedules",
          { name: "n", cron_schedule: "0 3 * * *", prompt: "p" },
          headers("schedule"),
        ),
      );
      stage.plane.clock.now = Date.parse("2026-05-19T03:00:05Z");
      await stage.timerOff(schedule.id, "2026-05-19T03:00:00.000Z");
      await stage.timerOff(schedule.id, "2026-05-19T03:00:00.000Z");
      await stage.settle();
    },
  },
];

/** Of "hello". */
const SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
