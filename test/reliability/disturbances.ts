import { createClient } from "../support/client.ts";
import type { ResponseBody } from "../support/control-plane.ts";
import { consume } from "../support/execution.ts";
import type { Faults } from "../support/faults.ts";
import type { Stage } from "../support/principals.ts";
import { reap } from "../support/reaper.ts";
import { nightly } from "../support/schedules.ts";
import { emptyTeam, invite } from "../support/valid-requests.ts";
import { fire } from "./other-requests.ts";

/** Somebody's request, and another one that comes between two of its calls. */
export interface Meeting {
  readonly stage: Stage;
  readonly faults: Faults;
  /** Makes the request of the route, with these headers. */
  readonly ask: (headers?: Readonly<Record<string, string>>) => Promise<ResponseBody>;
  /** The route's path with the stage's ids. */
  readonly target: string;
}

/** What may come between two calls of a request. */
export interface Disturbance {
  readonly name: string;
  /** Whether it can happen to a request of this route. */
  readonly concerns: (route: string) => boolean;
  /** Headers of the request that is disturbed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What has happened before both. */
  readonly before?: (meeting: Meeting) => Promise<ResponseBody>;
  readonly happens: (meeting: Meeting) => Promise<ResponseBody>;
  /** The two are one request, so what is left must be what one leaves. */
  readonly isOne?: true;
  /** The execution that calls is another's predecessor from then on: not one more write of it is done. */
  readonly isFence?: true;
}

const EVENT = "8f3c2f9e-0d0f-4b8e-9a70-2b1f3f0f5c11";
const keyed = { "idempotency-key": "once" };
const repeated = { "x-stainless-retry-count": "1" };

const changeSchedule = ({ stage: { plane, scheduleId } }: Meeting, change: object): Promise<ResponseBody> =>
  createClient(plane).put(`/agent/schedules/${scheduleId}`, { ...nightly, enabled: true, ...change });

/** The schedule's next run ends the one that it has. */
async function replacing(meeting: Meeting): Promise<ResponseBody> {
  const { plane, scheduleId, made } = meeting.stage;
  await changeSchedule(meeting, { overlap: "cancel_previous" });
  const response = await createClient(plane).post(`/agent/schedules/${scheduleId}/run`);
  made.set("replaced", response.body.run_id);
  return response;
}

/** What is below this part of a path goes with it. */
const OBJECT = /^(\/agent\/(environments|identities|schedules|secrets|keys)\/[^/]+)/;

const isEndOfTeam = (route: string): boolean => route === "DELETE /agent/teams/{teamUid}";

/** What may be made in a team. */
const novelties = {
  environments: { name: "New", team: true },
  identities: { name: "New" },
  runs: { prompt: "hello", team: true },
  schedules: { ...nightly, team: true },
  secrets: { name: "NEW", value: "hush" },
};

export const disturbances: readonly Disturbance[] = [
  {
    name: "the same request with its key",
    concerns: (route) => route.startsWith("POST "),
    headers: keyed,
    happens: ({ ask }) => ask(keyed),
    isOne: true,
  },
  {
    name: "its own repeat",
    concerns: (route) => route.startsWith("POST "),
    happens: ({ ask }) => ask(repeated),
    isOne: true,
  },
  {
    name: "the try that it repeats",
    concerns: (route) => route.startsWith("POST "),
    headers: repeated,
    happens: ({ ask }) => ask({}),
    isOne: true,
  },
  {
    name: "another one of the same content, where a repeat of one of them was first",
    concerns: (route) => route.startsWith("POST /agent/"),
    before: ({ ask }) => ask(repeated),
    happens: ({ ask }) => ask({}),
  },
  {
    name: "the same request of somebody else",
    concerns: (route) => !route.startsWith("POST "),
    happens: ({ ask }) => ask(),
  },
  {
    name: "the end of its object",
    concerns: (route) => /\/agent\/(environments|identities|schedules|secrets|keys)\/\{/.test(route),
    happens: ({ stage, target }) => createClient(stage.plane).delete(OBJECT.exec(target)?.[1] ?? ""),
  },
  {
    name: "another name of its object",
    concerns: (route) => /\/agent\/(environments|identities|schedules)\/\{/.test(route),
    happens: ({ stage, target }) =>
      createClient(stage.plane).put(OBJECT.exec(target)?.[1] ?? "", { ...nightly, name: "Renamed", enabled: true }),
  },
  {
    name: "a guest of its object",
    concerns: (route) => route.includes("{environmentUid}"),
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/share`, { user_uid: stage.memberUid }),
  },
  {
    name: "a pause of its object",
    concerns: (route) => route.includes("{scheduleId}"),
    happens: ({ stage, target }) => createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/pause`),
  },
  {
    name: "a key of its object",
    concerns: (route) => route.includes("{identityUid}"),
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "another key" }),
  },
  {
    name: "a first key of its object",
    concerns: (route) => /\{identityUid\}(\/keys)?$/.test(route),
    async before({ stage }) {
      const response = await createClient(stage.plane).post("/agent/identities", { name: "Keyless" });
      stage.made.set("identityUid", response.body.uid);
      return response;
    },
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "first key" }),
  },
  {
    name: "a change of a schedule that runs as its object",
    concerns: (route) => route === "DELETE /agent/identities/{identityUid}",
    before: (meeting) => changeSchedule(meeting, { agent_uid: meeting.stage.identityUid }),
    happens: (meeting) => changeSchedule(meeting, { name: "Renamed" }),
  },
  {
    name: "the end of its caller's membership",
    concerns: (route) =>
      !/\/harness-support\/|^(TIMER|RECONCILE|LOOK|MODEL) |members\/\{|^DELETE \/agent\/teams/.test(route),
    before: ({ stage: { plane, memberUid } }) =>
      createClient(plane).put(`/agent/teams/${plane.team}/members/${memberUid}`, { role: "admin" }),
    happens: ({ stage: { plane, key } }) =>
      createClient(plane, key("teammate")).delete(`/agent/teams/${plane.team}/members/${plane.user}`),
  },
  {
    name: "another run that goes on with its conversation",
    concerns: (route) => route === "POST /agent/runs",
    happens: ({ stage: { plane, made } }) =>
      createClient(plane).post("/agent/runs", { prompt: "me too", conversation_id: made.get("conversationId") }),
  },
  {
    name: "the end of its team",
    concerns: (route) =>
      /\{teamUid\}\/|^PUT \/agent\/teams\/|^POST \/agent\/(run|runs|schedules|identities|environments|secrets|keys)$/.test(
        route,
      ),
    async before({ stage }) {
      await emptyTeam(stage);
      return createClient(stage.plane).get("/agent/me");
    },
    happens: ({ stage: { plane } }) => createClient(plane).delete(`/agent/teams/${plane.team}`),
  },
  ...Object.entries(novelties).map(([kind, body]) => ({
    name: `one more of its ${kind}`,
    concerns: isEndOfTeam,
    happens: ({ stage: { plane } }: Meeting) => createClient(plane).post(`/agent/${kind}`, body),
  })),
  {
    name: "somebody who creates an account in it",
    concerns: isEndOfTeam,
    before: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane).post(`/agent/invitations/${made.get("token")}/accept`, undefined, { key: undefined }),
  },
  {
    name: "one more invitation into it",
    concerns: isEndOfTeam,
    happens: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
  },
  {
    name: "the acceptance of an invitation into it",
    concerns: isEndOfTeam,
    before: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane, plane.otherKey).post(`/agent/invitations/${made.get("token")}/accept`),
  },
  {
    name: "its timer",
    concerns: (route) => route.startsWith("RECONCILE "),
    happens: ({ stage }) => fire(stage),
  },
  {
    name: "a start of the run that it ends",
    concerns: (route) => route.startsWith("TIMER "),
    before: replacing,
    async happens({ stage: { plane, made } }) {
      const run = made.get("replaced") ?? "";
      await consume(plane, "runs", run);
      return createClient(plane).get(`/agent/runs/${run}`);
    },
  },
  {
    name: "a cancel of the run that it ends",
    concerns: (route) => route.startsWith("TIMER "),
    before: replacing,
    happens: ({ stage: { plane, made } }) => createClient(plane).post(`/agent/runs/${made.get("replaced")}/cancel`),
  },
  {
    name: "somebody else's acceptance of its invitation",
    concerns: (route) => route.includes("{token}") || route.includes("{invitationId}"),
    happens({ stage, target }) {
      const key = stage.key(target.endsWith("/accept") ? "teammate" : "another team's member");
      return createClient(stage.plane, key).post(`/agent/invitations/${stage.made.get("token")}/accept`);
    },
  },
  {
    name: "the end of its invitation",
    concerns: (route) => route.includes("{token}"),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane, plane.otherKey).delete(
        `/agent/teams/${plane.otherTeam}/invitations/${made.get("invitationId")}`,
      ),
  },
  {
    name: "the end of its inviter's role",
    concerns: (route) => route.includes("{token}"),
    async before({ stage: { plane } }) {
      const { link } = (
        await createClient(plane, plane.otherKey).post(`/agent/teams/${plane.otherTeam}/invitations`, {
          email: "second@runyard.test",
          role: "admin",
        })
      ).body;
      const token = link.split("/").at(-1);
      return createClient(plane).post(`/agent/invitations/${token}/accept`, undefined, { key: undefined });
    },
    async happens({ stage: { plane } }) {
      const bo = createClient(plane, plane.otherKey);
      const { uid } = (await bo.get("/agent/me")).body;
      return bo.put(`/agent/teams/${plane.otherTeam}/members/${uid}`, { role: "member" });
    },
  },
  {
    name: "the end of its key",
    concerns: (route) => !route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane);
      const { body } = await client.get("/agent/keys");
      const asking = body.keys.find(({ name }: { name: string }) => name === "first key");
      return client.delete(`/agent/keys/${asking.uid}`);
    },
  },
  {
    name: "an event of the run",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane, stage.key("the run itself"));
      const event = { event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" };
      return client.post(`/agent/runs/${stage.runId}/client-events`, { ...event, event_uuid: EVENT });
    },
  },
  {
    name: "the end of the run's task",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane, stage.key("the run itself"));
      return client.post("/harness-support/finish-task", { success: true, summary: "first" });
    },
  },
  {
    name: "the loss of the run's execution, and the next one",
    isFence: true,
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage: { plane, runId } }) {
      plane.clock.now += 31_000;
      await reap(plane);
      await consume(plane, "runs", runId);
      return createClient(plane).get(`/agent/runs/${runId}`);
    },
  },
  {
    name: "a cancel of the run",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => createClient(stage.plane).post(`/agent/runs/${stage.runId}/cancel`),
  },
  {
    name: "the end of the run",
    isFence: true,
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => createClient(stage.plane).post(`/agent/runs/${stage.runId}/cancel?force=true`),
  },
];
