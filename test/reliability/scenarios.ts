import { deleteOldRuns } from "#functions/executions/delete-old-runs.ts";
import { claimInstallation } from "../support/claim-installation.ts";
import { createClient, request } from "../support/client.ts";
import { createHarness } from "../support/execution.ts";
import { signed } from "../support/hooks.ts";
import type { Stage } from "./scenario.ts";

/** One use of the service, as the requests of users and their harness. It ends when the service has settled. */
export interface Scenario {
  readonly name: string;
  run(stage: Stage): Promise<void>;
  /** The final state of the runs, and how many there are. */
  readonly runs: { readonly state: string; readonly count: number; readonly messages?: number } | undefined;
  /** Differences that a died function may cause, each with its replacement; an empty one removes the item. */
  readonly alike?: readonly (readonly [RegExp, string])[];
}

const HOUR = { source: "aws.events", "detail-type": "Scheduled Event" } as const;

const headers = (key: string) => ({ headers: { "idempotency-key": key } });

async function create(stage: Stage, body: Record<string, unknown> = { prompt: "hello" }): Promise<string> {
  const { body: created } = await stage.sendOrThrow("create-run", () =>
    stage.user.post("/agent/runs", body, headers("create")),
  );
  return created.run_id;
}

const event = (event_name: string, n: number) => ({
  event_uuid: `0193a4b0-0000-7000-8000-00000000000${n}`,
  event_name,
  timestamp: "2026-05-18T19:00:00.000Z",
});

const TRIGGER_SECRET = "a-secret-of-the-other-system";
/** A sender without a response repeats its event, which is stored as a duplicate. */
const DUPLICATES = [[/.*"outcome":"duplicate".*/, ""]] as const;

async function createTrigger(stage: Stage, name = "comments"): Promise<string> {
  const members = { kind: "github", secret: TRIGGER_SECRET, prompt: "Answer.", allow: { anyone: true } };
  const create = () => stage.user.post("/agent/triggers", { name, ...members }, headers(`trigger-${name}`));
  return (await stage.sendOrThrow("create-trigger", create)).body.uid;
}

/** Delivers a comment on an issue, and repeats that without a response. */
async function sendComment(stage: Stage, path: string, delivery: string, text: string): Promise<void> {
  const body = JSON.stringify({
    action: "created",
    installation: { id: 2_000_001 },
    sender: { id: 1, login: "ada", type: "User" },
    repository: { full_name: "acme/shop", id: 1 },
    comment: { body: text },
    issue: { number: 7 },
  });
  const options = { key: undefined, body, headers: signed.github(TRIGGER_SECRET, body, "issue_comment", delivery) };
  const name = path === "/hooks/github-app" ? "receive-app-event" : "receive-event";
  await stage.sendOrThrow(name, () => request(stage.plane, "POST", path, options));
}

/** An agent that answers each follow-up with a message. */
const answerFollowups =
  (stage: Stage): Stage["agent"] =>
  async (harness) => {
    const { body } = await stage.send("resolve-prompt", () => harness.resolve());
    let next: number = body.context.next_sequence;
    for (const { number } of body.context.followups) {
      next = (await stage.send("messages", () => harness.messages(next, `answer ${number}`))).body.next_sequence;
      await stage.send("heartbeat", () => harness.beat(number));
    }
    await stage.send("finish-task", () => harness.finish());
  };

export const scenarios: readonly Scenario[] = [
  {
    name: "a run with messages and a file, to its end",
    runs: { state: "SUCCEEDED", count: 1, messages: 2 },
    async run(stage) {
      stage.agent = async (harness, { plane }) => {
        const { execution_id } = harness;
        await stage.send("client-events", () => harness.event(event("agent_started", 1)));
        await stage.send("messages", () => harness.messages(1, "I begin", "I go on"));
        await stage.send("heartbeat", () => harness.beat());
        const file = {
          artifact_type: "FILE",
          data: { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain", size_bytes: 5, sha256: SHA256 },
        };
        const target = await stage.send("report-artifact", () => harness.support("report-artifact", file));
        if (target.status !== 200)
          throw new Error(`report-artifact of ${execution_id}: ${JSON.stringify(target.body)}`);
        if (target.body.upload !== undefined) await plane.upload(target.body.upload.url, "hello");
        await stage.send("finish-task", () => harness.finish());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a follow-up while the run works, and one after it has ended",
    runs: { state: "SUCCEEDED", count: 1, messages: 3 },
    async run(stage) {
      let isFirst = true;
      stage.agent = async (harness) => {
        const { body } = await stage.send("resolve-prompt", () => harness.resolve());
        let next: number = body.context.next_sequence;
        let followups: { number: number }[] = body.context.followups;
        if (next === 1)
          next = (await stage.send("messages", () => harness.messages(1, "the first answer"))).body.next_sequence;
        if (isFirst) {
          isFirst = false;
          await stage.sendOrThrow("send-followup", () =>
            stage.user.post(`/agent/runs/${harness.run_id}/followups`, { message: "and then" }, headers("one")),
          );
        }
        if (followups.length === 0) followups = (await stage.send("heartbeat", () => harness.beat())).body.followups;
        for (const { number } of followups) {
          next = (await stage.send("messages", () => harness.messages(next, `answer ${number}`))).body.next_sequence;
          await stage.send("heartbeat", () => harness.beat(number));
        }
        await stage.send("finish-task", () => harness.finish());
      };
      const run = await create(stage);
      await stage.settle();
      await stage.sendOrThrow("send-followup", () =>
        stage.user.post(`/agent/runs/${run}/followups`, { message: "once more" }, headers("two")),
      );
      await stage.settle();
    },
  },
  {
    name: "a run that asks its user, and goes on with the answer",
    runs: { state: "SUCCEEDED", count: 1, messages: 2 },
    async run(stage) {
      let isFirst = true;
      const plan = { artifact_type: "PLAN", data: { document_uid: "plan", content: "# Plan" } };
      const pull = { artifact_type: "PULL_REQUEST", data: { url: "https://github.com/a/b/pull/1", branch: "b" } };
      stage.agent = async (harness) => {
        if (isFirst) {
          isFirst = false;
          await stage.send("report-artifact", () => harness.support("report-artifact", plan));
          await stage.send("messages", () => harness.messages(1, "Which one?"));
          const question = { success: false, blocked: true, summary: "Which one?" };
          await stage.send("finish-task", () => harness.support("finish-task", question));
          return;
        }
        await stage.send("notify-user", () => harness.support("notify-user", { message: "nearly done" }));
        await stage.send("report-artifact", () => harness.support("report-artifact", pull));
        const { body } = await stage.send("resolve-prompt", () => harness.resolve());
        await stage.send("messages", () => harness.messages(body.context.next_sequence, "Then the second."));
        await stage.send("heartbeat", () => harness.beat(1));
        await stage.send("finish-task", () => harness.finish());
      };
      const run = await create(stage);
      await stage.settle();
      await stage.sendOrThrow("send-followup", () =>
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
        await stage.send("messages", () => harness.messages(1, "I begin"));
        await stage.sendOrThrow("cancel-run", () =>
          stage.user.post(`/agent/runs/${harness.run_id}/cancel`, undefined, headers("cancel")),
        );
        await stage.send("heartbeat", () => harness.beat());
        await stage.send("report-shutdown", () => harness.shutDown());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a run in a MicroVM, lost once, whose provider stops what it leaves behind",
    runs: { state: "SUCCEEDED", count: 1 },
    // Nothing stops a sandbox that was started and not recorded. It ends at its time limit.
    alike: [[/"provider":"microvm","handle":"[^"]*"/, "<placed>"]],
    async run(stage) {
      stage.plane.offered.splice(0, 1, "microvm");
      let isLost = false;
      stage.agent = async (harness) => {
        if (isLost) await stage.send("finish-task", () => harness.finish());
        else await stage.send("report-shutdown", () => harness.shutDown());
        isLost = true;
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a cancel of a run in a container, which its provider stops",
    runs: { state: "CANCELLED", count: 1 },
    // If its end was not recorded, it times out.
    alike: [[/"confirmed_by":"(provider|timeout)"/, "<stopped>"]],
    async run(stage) {
      const { plane, user } = stage;
      plane.offered.push("fargate");
      const { body: environment } = await stage.sendOrThrow("create-environment", () =>
        user.post("/agent/environments", { name: "py", docker_image: "python:3.13" }, headers("environment")),
      );
      stage.agent = async (harness) => {
        plane.stopResponses.push(false);
        await stage.sendOrThrow("cancel-run", () =>
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
          const response = await stage.sendOrThrow("create-run", () =>
            user.post("/agent/runs", { prompt: "b" }, headers("second")),
          );
          second = response.body.run_id;
          // It is delivered while the first one still executes.
          await stage.deliverAll();
        }
        await stage.send("finish-task", () => harness.finish());
      };
      await create(stage);
      await stage.settle();
    },
  },
  {
    name: "a child run, made with its parent's key",
    runs: { state: "SUCCEEDED", count: 2 },
    async run(stage) {
      let isFirst = true;
      stage.agent = async (harness) => {
        if (isFirst) {
          isFirst = false;
          const parent = createClient(stage.plane, harness.key);
          await stage.sendOrThrow("create-run", () => parent.post("/agent/runs", { prompt: "part" }, headers("child")));
        }
        await stage.send("finish-task", () => harness.finish());
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
      // The key is returned once, so a caller that misses it creates a new run. Only requests with the key are retried here.
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
      await stage.send("messages", () => harness.messages(1, "done"));
      await stage.send("finish-task", () => harness.finish());
      await stage.settle();
    },
  },
  {
    name: "a new key of one's own, and its end",
    runs: undefined,
    async run(stage) {
      await stage.send("create-key", () => stage.user.post("/agent/keys", { name: "ci" }, headers("key")));
      // A key is returned once. A caller that missed it finds it in the list, and deletes it.
      const { body } = await stage.user.get("/agent/keys");
      const made = body.keys.filter(({ name }: { name: string }) => name === "ci");
      if (made.length !== 1) throw new Error(`${made.length} keys were created`);
      await stage.send("delete-key", () => stage.user.delete(`/agent/keys/${made[0].uid}`));
    },
  },
  {
    name: "an invitation, accepted without a key",
    runs: undefined,
    async run(stage) {
      const { plane, user } = stage;
      const { body } = await user.post(`/agent/teams/${plane.team}/invitations`, { email: "new@runyard.test" });
      const token = body.link.split("/").at(-1);
      const { body: account } = await stage.sendOrThrow("accept-invitation", () =>
        user.post(`/agent/invitations/${token}/accept`, undefined, { key: undefined, ...headers("accept") }),
      );
      const me = await createClient(plane, account.key).get("/agent/me");
      if (me.body.uid !== account.user_uid) throw new Error(`the key is of ${me.body.uid}`);
    },
  },
  {
    name: "an identity with a key, a waiting run and a schedule, deleted",
    runs: { state: "FAILED", count: 1 },
    // Either the deletion ends the run and pauses the schedule, or the dispatch and the firing do.
    alike: [
      [
        /the identity builder that the run was for is deleted|the identity that the run was created for is deleted/,
        "<gone>",
      ],
      [/the identity builder is deleted|agent_uid: there is no such identity in the team/, "<gone>"],
      [/^.*"sk":"TICK#.*$/, ""],
      [/^.*"pk":"TEAM_EVENTS#.*$/, ""],
      [/"(plan|revision)":\d+/g, "<n>"],
    ],
    async run(stage) {
      const { user } = stage;
      const { body: identity } = await stage.sendOrThrow("create-identity", () =>
        user.post("/agent/identities", { name: "builder" }, headers("identity")),
      );
      await stage.send("create-identity-key", () =>
        user.post(`/agent/identities/${identity.uid}/keys`, { name: "ci" }, headers("identity-key")),
      );
      const { body: schedule } = await stage.sendOrThrow("create-schedule", () =>
        user.post(
          "/agent/schedules",
          { name: "n", cron_schedule: "0 3 * * *", prompt: "p", agent_uid: identity.uid },
          headers("schedule"),
        ),
      );
      await create(stage, { prompt: "hello", agent_identity_uid: identity.uid });
      await stage.send("delete-identity", () => user.delete(`/agent/identities/${identity.uid}`));
      await stage.settle();
      // The next firing of the schedule completes what the deletion did not.
      stage.plane.clock.now = Date.parse("2026-05-19T03:00:05Z");
      await stage.timerOff(schedule.id, "2026-05-19T03:00:00.000Z");
      await stage.settle();
    },
  },
  {
    name: "a run with a child, and a conversation that another run continues, deleted",
    runs: { state: "SUCCEEDED", count: 1 },
    async run(stage) {
      const { user, plane } = stage;
      const create = async (name: string, body: object): Promise<string> =>
        (await stage.sendOrThrow("create-run", () => user.post("/agent/runs", body, headers(name)))).body.run_id;
      const root = await create("root", { prompt: "hello" });
      // Ids that are made at different times sort by them.
      plane.clock.now += 1;
      await create("child", { prompt: "help", parent_run_id: root });
      await stage.settle();
      await create("next", { prompt: "go on", conversation_id: root });
      await stage.settle();
      await stage.sendOrThrow("delete-run", () => user.delete(`/agent/runs/${root}`, headers("delete")));
      // A pass that died is completed by the next one.
      for (let pass = 0; pass < 2; pass++) {
        plane.clock.now += 3_600_000;
        await stage.faults.invoke("delete-old-runs", () => deleteOldRuns.handle(HOUR, plane.ports));
      }
    },
  },
  {
    name: "a firing of a schedule, told of twice",
    runs: { state: "SUCCEEDED", count: 1 },
    // A timer's message that is handled on its second delivery comes late.
    alike: [[/"outcome":"late"/, '"outcome":"fired"']],
    async run(stage) {
      const { body: schedule } = await stage.sendOrThrow("create-schedule", () =>
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
  {
    name: "a delivery to a trigger that starts a run, its repetition, and one that continues the run",
    runs: { state: "SUCCEEDED", count: 1, messages: 1 },
    alike: DUPLICATES,
    async run(stage) {
      stage.agent = answerFollowups(stage);
      const uid = await createTrigger(stage);
      const send = (delivery: string, text: string) => sendComment(stage, `/hooks/${uid}`, delivery, text);
      await send("one", "please look");
      await stage.settle();
      await send("one", "please look");
      await send("two", "and then");
      await stage.settle();
    },
  },
  {
    name: "a delivery of the GitHub App to two triggers, and its repetition",
    runs: { state: "SUCCEEDED", count: 2 },
    alike: DUPLICATES,
    async run(stage) {
      const { plane } = stage;
      plane.repositories.appWebhookSecret = TRIGGER_SECRET;
      await claimInstallation(plane, plane.team);
      await createTrigger(stage, "one");
      await createTrigger(stage, "two");
      const send = () => sendComment(stage, "/hooks/github-app", "one", "please look");
      await send();
      await stage.settle();
      await send();
      await stage.settle();
    },
  },
];

/** Of "hello". */
const SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
