import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { request } from "../support/client.ts";
import type { ResponseBody } from "../support/control-plane.ts";
import { Faults } from "../support/faults.ts";
import { makeStage, type Stage } from "../support/principals.ts";
import { bodies, ISSUER_ROUTES, prepare, toTarget } from "../support/valid-requests.ts";
import { type Disturbance, disturbances, type Meeting } from "./disturbances.ts";
import { others } from "./other-requests.ts";
import { formatDifference, listRemains } from "./scenario.ts";

/** A request that may meet another: a route's, with the body of `bodies` or another one; or one that comes by another way. */
interface Request {
  readonly route: string;
  readonly body?: (stage: Stage) => unknown;
  /** What it is answered where nothing disturbs it. Default: a success. */
  readonly refused?: number;
}

const SHARE = "/agent/environments/{environmentUid}/share";

const requests: readonly Request[] = [
  ...routes
    .filter(({ method }) => !["GET", "ANY"].includes(method))
    .map(({ method, path }) => ({ route: `${method} ${path}` }))
    .filter(({ route }) => !ISSUER_ROUTES.has(route)),
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
  { route: "LOOK /agent/schedules/{scheduleId}" },
  { route: "MODEL /agent/runs/{runId}", refused: 403 },
];

/** Requests whose response has a token that is stored nowhere: a repeat gets a token of its own. */
const NEW_TOKENS: ReadonlySet<string> = new Set(["POST /session", "POST /session/link"]);
const applies = ({ concerns, isOne }: Disturbance, route: string): boolean =>
  concerns(route) && !(isOne && NEW_TOKENS.has(route));

/** Which of two tries was the first, the record of a request tells. */
const WHOSE = [[/"original":(true|false)/g, "original"]] as const;

async function meet(asked: Request, { headers, before }: Disturbance): Promise<Meeting> {
  const { route } = asked;
  const faults = new Faults();
  const stage = await makeStage(faults.around);
  await prepare(route, stage);
  // Long enough that the use of a key is noted anew.
  stage.plane.clock.now += 3_600_000;
  const key = /\/harness-support\/|\/client-events$/.test(route) ? stage.key("the run itself") : stage.plane.key;
  const [method = ""] = route.split(" ");
  const other = others[method];
  await other?.prepare(stage);
  const body = (asked.body ?? bodies[route])?.(stage);
  const ask: Meeting["ask"] = (given = headers) => {
    if (other !== undefined) return other.ask(stage);
    const options = { key, ...(body !== undefined && { body }), ...(given && { headers: given }) };
    return request(stage.plane, method, toTarget(route, stage), options);
  };
  const meetingAt = (target: string): Meeting => ({ stage, faults, ask, target });
  const prepared = await before?.(meetingAt(toTarget(route, stage)));
  expect(prepared?.status ?? 200, JSON.stringify(prepared?.body)).toBeLessThan(300);
  // What came before may have made what the request is about.
  return meetingAt(toTarget(route, stage));
}

/** The answer as the caller has it in the end, who repeats what may be repeated. */
async function lastResponse({ ask }: Meeting, first: ResponseBody | undefined): Promise<ResponseBody> {
  let response = first ?? (await ask());
  for (let attempt = 0; attempt < 5 && response.headers["x-should-retry"] === "true"; attempt++) response = await ask();
  return response;
}

/** What was answered, whether the other request was answered the same, and what is left in the table. */
function describeOutcome({ stage }: Meeting, response: ResponseBody, other: ResponseBody | undefined): string[] {
  const isSame = other !== undefined && JSON.stringify(response.body) === JSON.stringify(other.body);
  return [`answered ${response.status}, ${isSame ? "as" : "unlike"} the other`, ...listRemains(stage.plane)];
}

const refusesLate = ({ status, body }: ResponseBody): boolean => status === 401 || body.next_heartbeat_seconds === 1;

describe.each(requests)("$route", (asked) => {
  const { route } = asked;
  it.each(disturbances.filter((disturbance) => applies(disturbance, route)))(
    "has a serial outcome with a concurrent $name",
    async (disturbance) => {
      const { happens, isOne } = disturbance;
      const isFenced = disturbance.isFence === true && /\/harness-support\/|^MODEL /.test(route);
      const last = await meet(asked, disturbance);
      const earlier = await happens(last);
      const disturbedBefore = describeOutcome(last, await lastResponse(last, undefined), earlier);

      const first = await meet(asked, disturbance);
      const undisturbed = await lastResponse(first, await first.faults.invoke("first", () => first.ask()));
      // What came before may have been the same request.
      if (disturbance.before === undefined) {
        const { status, body } = undisturbed;
        expect(status < 300 ? undefined : status, JSON.stringify(body)).toBe(asked.refused);
      }
      const alone = listRemains(first.stage.plane, WHOSE);
      const disturbedAfter = describeOutcome(first, undisturbed, await happens(first));
      if (isOne) {
        expect(formatDifference(alone, listRemains(last.stage.plane, WHOSE)), "after it").toBe("");
        expect(formatDifference(alone, listRemains(first.stage.plane, WHOSE)), "before it").toBe("");
      }

      for (const [at, call] of first.faults.calls.entries()) {
        if (!/: (write|transact) /.test(call)) continue;
        const meeting = await meet(asked, disturbance);
        let other: ResponseBody | undefined;
        const work = async () => {
          other = await happens(meeting);
        };
        meeting.faults.meanwhile = { at, work };
        const response = await lastResponse(meeting, await meeting.faults.invoke("first", () => meeting.ask()));
        // A beat that is too late is told to come again at once, and hears it then.
        if (isFenced) expect(refusesLate(response), `a late ${call}`).toBe(true);
        const outcome = describeOutcome(meeting, response, other);
        const ifLast = formatDifference(disturbedBefore, outcome);
        const ifFirst = formatDifference(disturbedAfter, outcome);
        const isSerial = ifLast === "" || ifFirst === "";
        expect(isSerial, `before ${call}, other than if it is first:\n${ifFirst}\nor last:\n${ifLast}`).toBe(true);
      }
    },
  );
});
