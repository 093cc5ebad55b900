import { createClient } from "../support/client.ts";
import type { ResponseBody } from "../support/control-plane.ts";
import { consume } from "../support/execution.ts";
import type { Faults } from "../support/faults.ts";
import type { Stage } from "../support/principals.ts";
import { reap } from "../support/reaper.ts";
import { nightly } from "../support/schedules.ts";
import { emptyTeam, invite } from "../support/valid-requests.ts";
import { fire } from "./other-requests.ts";

/** A request, and another one that happens between two of its calls. */
export interface Meeting {
  readonly stage: Stage;
  readonly faults: Faults;
  /** Sends the request of the route, with these headers. */
  readonly send: (headers?: Readonly<Record<string, string>>) => Promise<ResponseBody>;
  /** The route's path with the stage's ids. */
  readonly target: string;
}

/** What may happen between two calls of a request. */
export interface Disturbance {
  readonly name: string;
  /** Whether it can happen during a request of this route. */
  readonly appliesTo: (route: string) => boolean;
  /** Headers of the request that is disturbed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What happens before both. */
  readonly before?: (meeting: Meeting) => Promise<ResponseBody>;
  readonly happens: (meeting: Meeting) => Promise<ResponseBody>;
  /** Both are the same request, so the table must be as after one of them. */
  readonly isOne?: true;
  /** Replaces the calling execution, so none of its later writes may succeed. */
  readonly isFence?: true;
}

const EVENT = "8f3c2f9e-0d0f-4b8e-9a70-2b1f3f0f5c11";
const keyed = { "idempotency-key": "once" };
const repeated = { "x-stainless-retry-count": "1" };

const changeSchedule = ({ stage: { plane, scheduleId } }: Meeting, change: object): Promise<ResponseBody> =>
  createClient(plane).put(`/agent/schedules/${scheduleId}`, { ...nightly, enabled: true, ...change });

/** Starts a run of the schedule that its next run cancels. */
async function startReplacedRun(meeting: Meeting): Promise<ResponseBody> {
  const { plane, scheduleId, made } = meeting.stage;
  await changeSchedule(meeting, { overlap: "cancel_previous" });
  const response = await createClient(plane).post(`/agent/schedules/${scheduleId}/run`);
  made.set("replaced", response.body.run_id);
  return response;
}

/** The part of a path that names the object. Its deletion includes everything below it. */
const OBJECT = /^(\/agent\/(environments|identities|schedules|secrets|keys)\/[^/]+)/;

const isTeamDeletion = (route: string): boolean => route === "DELETE /agent/teams/{teamUid}";

/** What can be created in a team. */
const creations = {
  environments: { name: "New", team: true },
  identities: { name: "New" },
  runs: { prompt: "hello", team: true },
  schedules: { ...nightly, team: true },
  secrets: { name: "NEW", value: "hush" },
};

export const disturbances: readonly Disturbance[] = [
  {
    name: "request with the same idempotency key",
    appliesTo: (route) => route.startsWith("POST "),
    headers: keyed,
    happens: ({ send }) => send(keyed),
    isOne: true,
  },
  {
    name: "retry of it",
    appliesTo: (route) => route.startsWith("POST "),
    happens: ({ send }) => send(repeated),
    isOne: true,
  },
  {
    name: "attempt that it retries",
    appliesTo: (route) => route.startsWith("POST "),
    headers: repeated,
    happens: ({ send }) => send({}),
    isOne: true,
  },
  {
    name: "request with the same content, after a retry of either",
    appliesTo: (route) => route.startsWith("POST /agent/"),
    before: ({ send }) => send(repeated),
    happens: ({ send }) => send({}),
  },
  {
    name: "identical request",
    appliesTo: (route) => !route.startsWith("POST "),
    happens: ({ send }) => send(),
  },
  {
    name: "deletion of its object",
    appliesTo: (route) => /\/agent\/(environments|identities|schedules|secrets|keys)\/\{/.test(route),
    happens: ({ stage, target }) => createClient(stage.plane).delete(OBJECT.exec(target)?.[1] ?? ""),
  },
  {
    name: "renaming of its object",
    appliesTo: (route) => /\/agent\/(environments|identities|schedules)\/\{/.test(route),
    happens: ({ stage, target }) =>
      createClient(stage.plane).put(OBJECT.exec(target)?.[1] ?? "", { ...nightly, name: "Renamed", enabled: true }),
  },
  {
    name: "sharing of its object",
    appliesTo: (route) => route.includes("{environmentUid}"),
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/share`, { user_uid: stage.memberUid }),
  },
  {
    name: "pause of its object",
    appliesTo: (route) => route.includes("{scheduleId}"),
    happens: ({ stage, target }) => createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/pause`),
  },
  {
    name: "new key of its object",
    appliesTo: (route) => route.includes("{identityUid}"),
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "another key" }),
  },
  {
    name: "first key of its object",
    appliesTo: (route) => /\{identityUid\}(\/keys)?$/.test(route),
    async before({ stage }) {
      const response = await createClient(stage.plane).post("/agent/identities", { name: "Keyless" });
      stage.made.set("identityUid", response.body.uid);
      return response;
    },
    happens: ({ stage, target }) =>
      createClient(stage.plane).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "first key" }),
  },
  {
    name: "change of a schedule that runs as its object",
    appliesTo: (route) => route === "DELETE /agent/identities/{identityUid}",
    before: (meeting) => changeSchedule(meeting, { agent_uid: meeting.stage.identityUid }),
    happens: (meeting) => changeSchedule(meeting, { name: "Renamed" }),
  },
  {
    name: "removal of its caller from the team",
    appliesTo: (route) =>
      !/\/harness-support\/|^(TIMER|RECONCILE|LOOK|MODEL) |members\/\{|^DELETE \/agent\/teams/.test(route),
    before: ({ stage: { plane, memberUid } }) =>
      createClient(plane).put(`/agent/teams/${plane.team}/members/${memberUid}`, { role: "admin" }),
    happens: ({ stage: { plane, key } }) =>
      createClient(plane, key("teammate")).delete(`/agent/teams/${plane.team}/members/${plane.user}`),
  },
  {
    name: "run that continues the same conversation",
    appliesTo: (route) => route === "POST /agent/runs",
    happens: ({ stage: { plane, made } }) =>
      createClient(plane).post("/agent/runs", { prompt: "me too", conversation_id: made.get("conversationId") }),
  },
  {
    name: "deletion of its team",
    appliesTo: (route) =>
      /\{teamUid\}\/|^PUT \/agent\/teams\/|^POST \/agent\/(run|runs|schedules|identities|environments|secrets|keys)$/.test(
        route,
      ),
    async before({ stage }) {
      await emptyTeam(stage);
      return createClient(stage.plane).get("/agent/me");
    },
    happens: ({ stage: { plane } }) => createClient(plane).delete(`/agent/teams/${plane.team}`),
  },
  ...Object.entries(creations).map(([kind, body]) => ({
    name: `creation in its ${kind}`,
    appliesTo: isTeamDeletion,
    happens: ({ stage: { plane } }: Meeting) => createClient(plane).post(`/agent/${kind}`, body),
  })),
  {
    name: "creation of an account in it",
    appliesTo: isTeamDeletion,
    before: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane).post(`/agent/invitations/${made.get("token")}/accept`, undefined, { key: undefined }),
  },
  {
    name: "invitation to it",
    appliesTo: isTeamDeletion,
    happens: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
  },
  {
    name: "acceptance of an invitation to it",
    appliesTo: isTeamDeletion,
    before: ({ stage }) => invite(stage, stage.plane.team, stage.plane.key),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane, plane.otherKey).post(`/agent/invitations/${made.get("token")}/accept`),
  },
  {
    name: "firing of its timer",
    appliesTo: (route) => route.startsWith("RECONCILE "),
    happens: ({ stage }) => fire(stage),
  },
  {
    name: "start of the run that it ends",
    appliesTo: (route) => route.startsWith("TIMER "),
    before: startReplacedRun,
    async happens({ stage: { plane, made } }) {
      const run = made.get("replaced") ?? "";
      await consume(plane, "runs", run);
      return createClient(plane).get(`/agent/runs/${run}`);
    },
  },
  {
    name: "cancel of the run that it ends",
    appliesTo: (route) => route.startsWith("TIMER "),
    before: startReplacedRun,
    happens: ({ stage: { plane, made } }) => createClient(plane).post(`/agent/runs/${made.get("replaced")}/cancel`),
  },
  {
    name: "acceptance of its invitation by another user",
    appliesTo: (route) => route.includes("{token}") || route.includes("{invitationId}"),
    happens({ stage, target }) {
      const key = stage.key(target.endsWith("/accept") ? "teammate" : "another team's member");
      return createClient(stage.plane, key).post(`/agent/invitations/${stage.made.get("token")}/accept`);
    },
  },
  {
    name: "deletion of its invitation",
    appliesTo: (route) => route.includes("{token}"),
    happens: ({ stage: { plane, made } }) =>
      createClient(plane, plane.otherKey).delete(
        `/agent/teams/${plane.otherTeam}/invitations/${made.get("invitationId")}`,
      ),
  },
  {
    name: "demotion of its inviter",
    appliesTo: (route) => route.includes("{token}"),
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
    name: "deletion of its key",
    appliesTo: (route) => !route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane);
      const { body } = await client.get("/agent/keys");
      const own = body.keys.find(({ name }: { name: string }) => name === "first key");
      return client.delete(`/agent/keys/${own.uid}`);
    },
  },
  {
    name: "event of the run",
    appliesTo: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane, stage.key("the run itself"));
      const event = { event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" };
      return client.post(`/agent/runs/${stage.runId}/client-events`, { ...event, event_uuid: EVENT });
    },
  },
  {
    name: "finish-task of the run",
    appliesTo: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = createClient(stage.plane, stage.key("the run itself"));
      return client.post("/harness-support/finish-task", { success: true, summary: "first" });
    },
  },
  {
    name: "expiry of the run's execution, and its next one",
    isFence: true,
    appliesTo: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage: { plane, runId } }) {
      plane.clock.now += 31_000;
      await reap(plane);
      await consume(plane, "runs", runId);
      return createClient(plane).get(`/agent/runs/${runId}`);
    },
  },
  {
    name: "cancel of the run",
    appliesTo: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => createClient(stage.plane).post(`/agent/runs/${stage.runId}/cancel`),
  },
  {
    name: "forced cancel of the run",
    isFence: true,
    appliesTo: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => createClient(stage.plane).post(`/agent/runs/${stage.runId}/cancel?force=true`),
  },
];
