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

/** A request that is tested with a concurrent one: of a route, with the body of `bodies` by default, or of `others`. */
interface Request {
  readonly route: string;
  readonly body?: (stage: Stage) => unknown;
  /** The status without a concurrent request. @default a success */
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

/** Requests whose response has a token that is not stored, so a repeat gets a new token. */
const NEW_TOKENS: ReadonlySet<string> = new Set(["POST /session", "POST /session/link", "POST /agent/github/claims"]);
const isApplicable = ({ appliesTo, isOne }: Disturbance, route: string): boolean =>
  appliesTo(route) && !(isOne && NEW_TOKENS.has(route));

/** The record of a request stores which of two attempts was the first. */
const ORIGINAL = [[/"original":(true|false)/g, "original"]] as const;
/** Every request for an upload of commits counts against the limit of the run, so that repeats are limited too. */
const COUNTED = [...ORIGINAL, [/"client_events":\d+/g, "client_events"]] as const;

async function setUp(tested: Request, { headers, before }: Disturbance): Promise<Meeting> {
  const { route } = tested;
  const faults = new Faults();
  const stage = await makeStage(faults.around);
  await prepare(route, stage);
  // The decision about an event is no part of the request.
  stage.plane.events.isHeld = true;
  // Long enough that the key's last use is recorded again.
  stage.plane.clock.now += 3_600_000;
  const key = /\/harness-support\/|\/client-events$/.test(route) ? stage.key("the run itself") : stage.plane.key;
  const [method = ""] = route.split(" ");
  const other = others[method];
  await other?.prepare(stage);
  const body = (tested.body ?? bodies[route])?.(stage);
  const send: Meeting["send"] = (given = headers) => {
    if (other !== undefined) return other.send(stage);
    const options = { key, ...(body !== undefined && { body }), ...(given && { headers: given }) };
    return request(stage.plane, method, toTarget(route, stage), options);
  };
  const toMeeting = (target: string): Meeting => ({ stage, faults, send, target });
  const prepared = await before?.(toMeeting(toTarget(route, stage)));
  expect(prepared?.status ?? 200, JSON.stringify(prepared?.body)).toBeLessThan(300);
  // The preparation may have created the object of the request.
  return toMeeting(toTarget(route, stage));
}

/** The final response to a caller that retries while the response permits it. */
async function lastResponse({ send }: Meeting, first: ResponseBody | undefined): Promise<ResponseBody> {
  let response = first ?? (await send());
  for (let attempt = 0; attempt < 5 && response.headers["x-should-retry"] === "true"; attempt++)
    response = await send();
  return response;
}

/** The status, whether the other request got the same response, and the contents of the table. */
function describeOutcome({ stage }: Meeting, response: ResponseBody, other: ResponseBody | undefined): string[] {
  const isSame = other !== undefined && JSON.stringify(response.body) === JSON.stringify(other.body);
  return [`returned ${response.status}, ${isSame ? "as" : "unlike"} the other`, ...listRemains(stage.plane)];
}

const refusesLate = ({ status, body }: ResponseBody): boolean => status === 401 || body.next_heartbeat_seconds === 1;

describe.each(requests)("$route", (tested) => {
  const { route } = tested;
  it.each(disturbances.filter((disturbance) => isApplicable(disturbance, route)))(
    "has a serial outcome with a concurrent $name",
    async (disturbance) => {
      const { happens, isOne } = disturbance;
      const isFenced = disturbance.isFence === true && /\/harness-support\/|^MODEL /.test(route);
      const ignored = route.endsWith("/push-branch") ? COUNTED : ORIGINAL;
      const last = await setUp(tested, disturbance);
      const earlier = await happens(last);
      const disturbedBefore = describeOutcome(last, await lastResponse(last, undefined), earlier);

      const first = await setUp(tested, disturbance);
      const undisturbed = await lastResponse(first, await first.faults.invoke("first", () => first.send()));
      // The preparation may have sent the same request.
      if (disturbance.before === undefined) {
        const { status, body } = undisturbed;
        expect(status < 300 ? undefined : status, JSON.stringify(body)).toBe(tested.refused);
      }
      const single = listRemains(first.stage.plane, ignored);
      const disturbedAfter = describeOutcome(first, undisturbed, await happens(first));
      if (isOne) {
        expect(formatDifference(single, listRemains(last.stage.plane, ignored)), "after it").toBe("");
        expect(formatDifference(single, listRemains(first.stage.plane, ignored)), "before it").toBe("");
      }

      for (const [at, call] of first.faults.calls.entries()) {
        if (!/: (write|transact) /.test(call)) continue;
        const meeting = await setUp(tested, disturbance);
        let other: ResponseBody | undefined;
        const work = async () => {
          other = await happens(meeting);
        };
        meeting.faults.meanwhile = { at, work };
        const response = await lastResponse(meeting, await meeting.faults.invoke("first", () => meeting.send()));
        // A heartbeat that is too late gets a request to repeat it at once, and that one is refused.
        if (isFenced) expect(refusesLate(response), `a late ${call}`).toBe(true);
        const outcome = describeOutcome(meeting, response, other);
        const ifLast = formatDifference(disturbedBefore, outcome);
        const ifFirst = formatDifference(disturbedAfter, outcome);
        const isSerial = ifLast === "" || ifFirst === "";
        expect(
          isSerial,
          `before ${call}: differs from the outcome if it is first:\n${ifFirst}\nor last:\n${ifLast}`,
        ).toBe(true);
      }
    },
  );
});
