import { describe, expect, it, vi } from "vitest";
import { routes } from "#infra/routes.ts";
import { putBudget } from "#shared/budgets/budget.ts";
import { keys } from "#shared/table/keys.ts";
import { clientOf, request } from "../support/client.ts";
import { consume } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { gatewayOf, MODEL_SETTINGS } from "../support/gateway.ts";
import { makeStage, type Stage } from "../support/principals.ts";
import { reap } from "../support/reaper.ts";
import { nightly, reconcile, timerOff } from "../support/schedules.ts";
import { bodies, emptyTeam, prepare, targetOf } from "../support/valid-requests.ts";
import type { Answer } from "../support/world.ts";
import { differenceOf, remainsOf } from "./scenario.ts";

/** Somebody's request, and another one that comes between two of its calls. */
interface Meeting {
  readonly stage: Stage;
  readonly faults: Faults;
  /** Makes the request of the route, with these headers. */
  readonly ask: (headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  /** The route's path with the stage's ids. */
  readonly target: string;
}

interface Disturbance {
  readonly name: string;
  /** Whether it can happen to a request of this route. */
  readonly concerns: (route: string) => boolean;
  /** Headers of the request that is disturbed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What has happened before both. */
  readonly before?: (meeting: Meeting) => Promise<Answer>;
  readonly happens: (meeting: Meeting) => Promise<Answer>;
  /** The two are one request, so what is left must be what one leaves. */
  readonly isOne?: true;
  /** The execution that calls is another's predecessor from then on: not one more write of it is done. */
  readonly isFence?: true;
}

/** Which of two tries was the first, the record of a request tells. */
const WHOSE = [[/"original":(true|false)/g, "original"]] as const;
const EVENT = "8f3c2f9e-0d0f-4b8e-9a70-2b1f3f0f5c11";
const SHARE = "/agent/environments/{environmentUid}/share";
const keyed = { "idempotency-key": "once" };
const repeated = { "x-stainless-retry-count": "1" };
const changeSchedule = ({ stage: { world, scheduleId } }: Meeting, change: object): Promise<Answer> =>
  clientOf(world).put(`/agent/schedules/${scheduleId}`, { ...nightly, enabled: true, ...change });
/** The schedule's next run ends the one that it has. */
async function replacing(meeting: Meeting): Promise<Answer> {
  const { world, scheduleId, made } = meeting.stage;
  await changeSchedule(meeting, { overlap: "cancel_previous" });
  const answer = await clientOf(world).post(`/agent/schedules/${scheduleId}/run`);
  made.set("replaced", answer.body.run_id);
  return answer;
}
/** What is below this part of a path goes with it. */
const OBJECT = /^(\/agent\/(environments|identities|schedules|secrets|keys)\/[^/]+)/;

const disturbances: readonly Disturbance[] = [
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
    happens: ({ stage, target }) => clientOf(stage.world).delete(OBJECT.exec(target)?.[1] ?? ""),
  },
  {
    name: "another name of its object",
    concerns: (route) => /\/agent\/(environments|identities|schedules)\/\{/.test(route),
    happens: ({ stage, target }) =>
      clientOf(stage.world).put(OBJECT.exec(target)?.[1] ?? "", { ...nightly, name: "Renamed", enabled: true }),
  },
  {
    name: "a guest of its object",
    concerns: (route) => route.includes("{environmentUid}"),
    happens: ({ stage, target }) =>
      clientOf(stage.world).post(`${OBJECT.exec(target)?.[1] ?? ""}/share`, { user_uid: stage.memberUid }),
  },
  {
    name: "a pause of its object",
    concerns: (route) => route.includes("{scheduleId}"),
    happens: ({ stage, target }) => clientOf(stage.world).post(`${OBJECT.exec(target)?.[1] ?? ""}/pause`),
  },
  {
    name: "a key of its object",
    concerns: (route) => route.includes("{identityUid}"),
    happens: ({ stage, target }) =>
      clientOf(stage.world).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "another key" }),
  },
  {
    name: "a first key of its object",
    concerns: (route) => /\{identityUid\}(\/keys)?$/.test(route),
    async before({ stage }) {
      const answer = await clientOf(stage.world).post("/agent/identities", { name: "Keyless" });
      stage.made.set("identityUid", answer.body.uid);
      return answer;
    },
    happens: ({ stage, target }) =>
      clientOf(stage.world).post(`${OBJECT.exec(target)?.[1] ?? ""}/keys`, { name: "first key" }),
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
      !/\/harness-support\/|^(TIMER|RECONCILE|MODEL) |members\/\{|^DELETE \/agent\/teams/.test(route),
    before: ({ stage: { world, memberUid } }) =>
      clientOf(world).put(`/agent/teams/${world.team}/members/${memberUid}`, { role: "admin" }),
    happens: ({ stage: { world, key } }) =>
      clientOf(world, key("teammate")).delete(`/agent/teams/${world.team}/members/${world.user}`),
  },
  {
    name: "another run that goes on with its conversation",
    concerns: (route) => route === "POST /agent/runs",
    happens: ({ stage: { world, made } }) =>
      clientOf(world).post("/agent/runs", { prompt: "me too", conversation_id: made.get("conversationId") }),
  },
  {
    name: "the end of its team",
    concerns: (route) =>
      /\{teamUid\}\/|^POST \/agent\/(run|runs|schedules|identities|environments|secrets|keys)$/.test(route),
    async before({ stage }) {
      await emptyTeam(stage);
      return clientOf(stage.world).get("/agent/me");
    },
    happens: ({ stage: { world } }) => clientOf(world).delete(`/agent/teams/${world.team}`),
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
    async happens({ stage: { world, made } }) {
      const run = made.get("replaced") ?? "";
      await consume(world, "runs", run);
      return clientOf(world).get(`/agent/runs/${run}`);
    },
  },
  {
    name: "a cancel of the run that it ends",
    concerns: (route) => route.startsWith("TIMER "),
    before: replacing,
    happens: ({ stage: { world, made } }) => clientOf(world).post(`/agent/runs/${made.get("replaced")}/cancel`),
  },
  {
    name: "somebody else's acceptance of its invitation",
    concerns: (route) => route.includes("{token}") || route.includes("{invitationId}"),
    happens({ stage, target }) {
      const key = stage.key(target.endsWith("/accept") ? "teammate" : "another team's member");
      return clientOf(stage.world, key).post(`/agent/invitations/${stage.made.get("token")}/accept`);
    },
  },
  {
    name: "the end of its invitation",
    concerns: (route) => route.includes("{token}"),
    happens: ({ stage: { world, made } }) =>
      clientOf(world, world.otherKey).delete(`/agent/teams/${world.otherTeam}/invitations/${made.get("invitationId")}`),
  },
  {
    name: "the word of the team that its caller is a member",
    concerns: (route) => route.includes("{token}"),
    happens: ({ stage: { world } }) =>
      clientOf(world, world.otherKey).post(`/agent/teams/${world.otherTeam}/members`, { uid: world.user }),
  },
  {
    name: "the end of its key",
    concerns: (route) => !route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = clientOf(stage.world);
      const { body } = await client.get("/agent/keys");
      const asking = body.keys.find(({ name }: { name: string }) => name === "first key");
      return client.delete(`/agent/keys/${asking.uid}`);
    },
  },
  {
    name: "an event of the run",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = clientOf(stage.world, stage.key("the run itself"));
      const event = { event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" };
      return client.post(`/agent/runs/${stage.runId}/client-events`, { ...event, event_uuid: EVENT });
    },
  },
  {
    name: "the end of the run's task",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage }) {
      const client = clientOf(stage.world, stage.key("the run itself"));
      return client.post("/harness-support/finish-task", { success: true, summary: "first" });
    },
  },
  {
    name: "the loss of the run's execution, and the next one",
    isFence: true,
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    async happens({ stage: { world, runId } }) {
      world.clock.now += 31_000;
      await reap(world);
      await consume(world, "runs", runId);
      return clientOf(world).get(`/agent/runs/${runId}`);
    },
  },
  {
    name: "a cancel of the run",
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => clientOf(stage.world).post(`/agent/runs/${stage.runId}/cancel`),
  },
  {
    name: "the end of the run",
    isFence: true,
    concerns: (route) => route.includes("{runId}") || route.includes("/harness-support/"),
    happens: ({ stage }) => clientOf(stage.world).post(`/agent/runs/${stage.runId}/cancel?force=true`),
  },
];

/** A request that may meet another: a route's, with the body of `bodies` or another one; or one that comes by another way. */
interface Request {
  readonly route: string;
  readonly body?: (stage: Stage) => unknown;
  /** What it is answered where nothing disturbs it. Default: a success. */
  readonly refused?: number;
}

const requests: readonly Request[] = [
  ...routes
    .filter(({ method }) => !["GET", "ANY"].includes(method))
    .map(({ method, path }) => ({ route: `${method} ${path}` })),
  { route: `POST ${SHARE}`, body: ({ memberUid }) => ({ user_uid: memberUid }) },
  { route: `DELETE ${SHARE}`, body: ({ memberUid }) => ({ user_uid: memberUid }) },
  { route: "PUT /agent/environments/{environmentUid}", body: () => ({ name: "Another" }) },
  { route: "PUT /agent/identities/{identityUid}", body: () => ({ name: "Another" }) },
  {
    route: "POST /agent/runs",
    body: ({ made }) => ({ prompt: "go on", conversation_id: made.get("conversationId") }),
  },
  { route: "TIMER /agent/schedules/{scheduleId}" },
  { route: "RECONCILE /agent/schedules/{scheduleId}" },
  { route: "MODEL /agent/runs/{runId}", refused: 403 },
];

const FIRES_AT = "2026-05-19T02:30:00.000Z";

/** What an invocation of the timer's function answers, as if it were a request. */
async function fire({ world, scheduleId }: Stage): Promise<Answer> {
  const failed = await timerOff(world, scheduleId, FIRES_AT);
  return { status: failed === 0 ? 200 : 500, headers: { "x-should-retry": String(failed > 0) }, body: {} };
}

/** The reconciler's pass, a while after a firing that no timer told of. */
async function reconcileLate({ world }: Stage): Promise<Answer> {
  const { failed } = await reconcile(world);
  return { status: failed === 0 ? 200 : 500, headers: { "x-should-retry": String(failed > 0) }, body: {} };
}

/** The run's call of a model, for which nothing is left of its budget. */
async function callModel({ world, key }: Stage): Promise<Answer> {
  const gateway = gatewayOf(world, { anthropicUrl: "", openaiUrl: "", bedrockUrl: "" });
  for (const [name, value] of Object.entries(MODEL_SETTINGS)) vi.stubEnv(name, value);
  const answer = await gateway.messages(key("the run itself")).finally(() => vi.unstubAllEnvs());
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.json() };
}

/** What requests that are not the API's ask for, and what makes the stage ready for them. */
const others: Readonly<
  Record<string, { ask: (stage: Stage) => Promise<Answer>; prepare: (stage: Stage) => Promise<void> }>
> = {
  TIMER: {
    ask: fire,
    async prepare({ world }) {
      world.clock.now = Date.parse(FIRES_AT) + 5_000;
    },
  },
  RECONCILE: {
    ask: reconcileLate,
    async prepare({ world }) {
      world.clock.now = Date.parse(FIRES_AT) + 120_000;
    },
  },
  MODEL: {
    ask: callModel,
    async prepare({ world, runId }) {
      await world.table.write(putBudget(runId, { limit: 1, above: [] }));
      await world.table.write({ kind: "update", key: keys.head(runId), set: { b: true } });
    },
  },
};

async function meet(asked: Request, { headers, before }: Disturbance): Promise<Meeting> {
  const { route } = asked;
  const faults = new Faults();
  const stage = await makeStage(faults.around);
  await prepare(route, stage);
  // Long enough that the use of a key is noted anew.
  stage.world.clock.now += 3_600_000;
  const key = /\/harness-support\/|\/client-events$/.test(route) ? stage.key("the run itself") : stage.world.key;
  const [method = ""] = route.split(" ");
  const other = others[method];
  await other?.prepare(stage);
  const body = (asked.body ?? bodies[route])?.(stage);
  const ask: Meeting["ask"] = (given = headers) => {
    if (other !== undefined) return other.ask(stage);
    const options = { key, ...(body !== undefined && { body }), ...(given && { headers: given }) };
    return request(stage.world, method, targetOf(route, stage), options);
  };
  const meetingAt = (target: string): Meeting => ({ stage, faults, ask, target });
  const prepared = await before?.(meetingAt(targetOf(route, stage)));
  expect(prepared?.status ?? 200, JSON.stringify(prepared?.body)).toBeLessThan(300);
  // What came before may have made what the request is about.
  return meetingAt(targetOf(route, stage));
}

/** The answer as the caller has it in the end, who repeats what may be repeated. */
async function lastAnswer({ ask }: Meeting, first: Answer | undefined): Promise<Answer> {
  let answer = first ?? (await ask());
  for (let attempt = 0; attempt < 5 && answer.headers["x-should-retry"] === "true"; attempt++) answer = await ask();
  return answer;
}

/** What was answered, whether the other request was answered the same, and what is left in the table. */
function outcomeOf({ stage }: Meeting, answer: Answer, other: Answer | undefined): string[] {
  const isSame = other !== undefined && JSON.stringify(answer.body) === JSON.stringify(other.body);
  return [`answered ${answer.status}, ${isSame ? "as" : "unlike"} the other`, ...remainsOf(stage.world)];
}

const refusesLate = ({ status, body }: Answer): boolean => status === 401 || body.next_heartbeat_seconds === 1;

describe.each(requests)("$route", (asked) => {
  const { route } = asked;
  it.each(disturbances.filter(({ concerns }) => concerns(route)))(
    "meets $name as if one came after the other",
    async (disturbance) => {
      const { happens, isOne } = disturbance;
      const isFenced = disturbance.isFence === true && /\/harness-support\/|^MODEL /.test(route);
      const last = await meet(asked, disturbance);
      const earlier = await happens(last);
      const disturbedBefore = outcomeOf(last, await lastAnswer(last, undefined), earlier);

      const first = await meet(asked, disturbance);
      const undisturbed = await lastAnswer(first, await first.faults.invoke("first", () => first.ask()));
      // What came before may have been the same request.
      if (disturbance.before === undefined) {
        const { status, body } = undisturbed;
        expect(status < 300 ? undefined : status, JSON.stringify(body)).toBe(asked.refused);
      }
      const alone = remainsOf(first.stage.world, WHOSE);
      const disturbedAfter = outcomeOf(first, undisturbed, await happens(first));
      if (isOne) {
        expect(differenceOf(alone, remainsOf(last.stage.world, WHOSE)), "after it").toBe("");
        expect(differenceOf(alone, remainsOf(first.stage.world, WHOSE)), "before it").toBe("");
      }

      for (const [at, call] of first.faults.calls.entries()) {
        if (!/: (write|transact) /.test(call)) continue;
        const meeting = await meet(asked, disturbance);
        let other: Answer | undefined;
        const work = async () => {
          other = await happens(meeting);
        };
        meeting.faults.meanwhile = { at, work };
        const answer = await lastAnswer(meeting, await meeting.faults.invoke("first", () => meeting.ask()));
        // A beat that is too late is told to come again at once, and hears it then.
        if (isFenced) expect(refusesLate(answer), `a late ${call}`).toBe(true);
        const outcome = outcomeOf(meeting, answer, other);
        const ifLast = differenceOf(disturbedBefore, outcome);
        const ifFirst = differenceOf(disturbedAfter, outcome);
        const isSerial = ifLast === "" || ifFirst === "";
        expect(isSerial, `before ${call}, other than if it is first:\n${ifFirst}\nor last:\n${ifLast}`).toBe(true);
      }
    },
  );
});
