import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { callApi } from "../../server/host/api.ts";
import { seededRandom } from "../../shared/random.ts";
import { type GithubStandIn, startGithub } from "./github.ts";
import { listDeliveries, listRuns, type SeenDelivery, type SeenRun, type Service, waitUntil } from "./service.ts";

const SECRET = "a-secret-of-the-campaign";
const SENDERS = 12;
/** Deliveries to one issue, on average: a run stores at most 1,000 follow-ups. */
const PER_THREAD = 40;
/** The share of deliveries that repeat an earlier one, and how far deliveries can change places. */
const DUPLICATES = 0.3;
const DISPLACEMENT = 40;
const KILL_EVERY_MS = 9_000;
/** After this time no further delivery is started, so that the campaign takes ten minutes at most on a busy machine. */
const SEND_MS = 300_000;
const DRAIN_MS = 100_000;

interface CampaignOptions {
  readonly seed: number;
  readonly count: number;
}

interface CampaignResult {
  readonly deliveries: number;
  readonly events: number;
  readonly threads: number;
  readonly kills: number;
  /** Requests that were sent again because the response was lost, or not 200. */
  readonly repeats: number;
  readonly seconds: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Violations that the checks found. */
  readonly problems: readonly string[];
}

interface Sent {
  readonly id: string;
  readonly issue: number;
}

/** The deliveries in the order in which they are sent: events and repeats, some of them out of order. */
function plan({ seed, count }: CampaignOptions): readonly Sent[] {
  const random = seededRandom(seed);
  const events = Math.round(count * (1 - DUPLICATES));
  const threads = Math.max(1, Math.round(count / PER_THREAD));
  const all = Array.from({ length: events }, (_, index) => ({
    id: `event-${index}`,
    issue: 1 + Math.floor(random() * threads),
  }));
  const repeats = Array.from({ length: count - events }, () => all[Math.floor(random() * all.length)]).filter(
    (one) => one !== undefined,
  );
  const placed = [
    ...all.map((sent, index) => ({ sent, at: index + random() * DISPLACEMENT })),
    ...repeats.map((sent) => ({ sent, at: all.indexOf(sent) + random() * DISPLACEMENT * 4 })),
  ];
  return placed.toSorted((a, b) => a.at - b.at).map(({ sent }) => sent);
}

const toBody = ({ id, issue }: Sent): string =>
  JSON.stringify({
    action: "created",
    comment: { id: Number(id.replace("event-", "")) + 1, body: `comment ${id}` },
    issue: { number: issue, html_url: `https://github.com/acme/shop/issues/${issue}` },
    repository: { id: 1, full_name: "acme/shop", private: true },
    sender: { id: 1, login: "ada", type: "User" },
  });

const Created = v.object({ uid: v.string() });
/** Sends events while the service is killed again and again, and checks that each had its effect once. */
export async function runCampaign(
  options: CampaignOptions,
  makeService: (github: string) => Service,
): Promise<CampaignResult> {
  await using github = await startGithub();
  const service = makeService(github.url);
  const began = performance.now();
  await service.start();
  try {
    const trigger = await createTrigger(service);
    const planned = plan(options);
    let isSending = true;
    const killing = (async () => {
      for (;;) {
        for (let waited = 0; waited < KILL_EVERY_MS && isSending; waited += 100) await pause(100);
        if (!isSending) return;
        await service.kill();
      }
    })();
    const { count, repeats } = await sendAll(planned, trigger, service);
    const sent = planned.slice(0, count);
    isSending = false;
    await killing;
    const decided = async () =>
      (await listDeliveries(service.api, trigger)).every(({ outcome }) => outcome !== undefined);
    const hasSettled = await waitUntil(decided, DRAIN_MS);
    const runs = await listRuns(service.api);
    for (const { run_id } of runs)
      await callApi(service.api, "POST", `/agent/runs/${run_id}/cancel?force=true`, v.unknown());
    const threads = new Set(sent.map(({ issue }) => issue));
    const areReplied = await waitUntil(
      async () =>
        [...threads].every((issue) => {
          const texts = github.textsOn(String(issue));
          return texts.length > 0 && texts.every((text) => text.includes("was cancelled"));
        }),
      DRAIN_MS,
    );
    const deliveries = await listDeliveries(service.api, trigger);
    const problems = [
      ...(hasSettled
        ? []
        : deliveries.flatMap(({ outcome, detail }) => (outcome === undefined ? [`no outcome: ${detail}`] : []))),
      ...(areReplied ? [] : ["some replies do not show the end of their run"]),
      ...checkOutcomes(sent, deliveries),
      ...checkRuns(deliveries, runs, threads),
      ...checkReplies(github, threads),
    ];
    return {
      deliveries: sent.length,
      events: new Set(sent.map(({ id }) => id)).size,
      threads: threads.size,
      kills: service.kills,
      repeats,
      seconds: Math.round((performance.now() - began) / 1000),
      outcomes: countBy(deliveries.map(({ outcome = "none" }) => outcome)),
      problems,
    };
  } finally {
    await service.stop();
  }
}

async function createTrigger({ api }: Service): Promise<string> {
  await callApi(api, "POST", "/agent/secrets", v.unknown(), { name: "github", value: "github_pat" });
  const members = { kind: "github", secret: SECRET, credential: "github", reply: { to: "thread" } };
  const { uid } = await callApi(api, "POST", "/agent/triggers", Created, {
    ...members,
    name: "campaign",
    prompt: "Answer {{ event.text }}",
    // No worker takes the runs, so that they wait while events come.
    agent_config: { worker_host: "nobody" },
  });
  return uid;
}

/** Sends each delivery until it is accepted. Returns how many were sent in time, and how often one was sent again. */
async function sendAll(
  sent: readonly Sent[],
  trigger: string,
  service: Service,
): Promise<{ readonly count: number; readonly repeats: number }> {
  const deadline = Date.now() + SEND_MS;
  let next = 0;
  let repeats = 0;
  const send = async () => {
    for (let one = sent[next++]; one !== undefined; one = Date.now() < deadline ? sent[next++] : undefined) {
      while ((await post(one, trigger, service)) !== 200) {
        repeats++;
        await pause(200);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return { count: Math.min(next, sent.length), repeats };
}

async function post(sent: Sent, trigger: string, { api }: Service): Promise<number> {
  const body = toBody(sent);
  const headers = {
    "content-type": "application/json",
    "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
    "x-github-event": "issue_comment",
    "x-github-delivery": sent.id,
  };
  const request = { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) };
  return fetch(`${api.baseUrl}/hooks/${trigger}`, request).then(
    async (response) => {
      await response.body?.cancel();
      return response.status;
    },
    () => 0,
  );
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const ACTED = ["started", "followed_up"];

/** Each event has exactly one delivery that acted on it, and all others are duplicates. */
function checkOutcomes(sent: readonly Sent[], deliveries: readonly SeenDelivery[]): string[] {
  const byEvent = Map.groupBy(deliveries, ({ external_id = "" }) => external_id);
  return [...new Set(sent.map(({ id }) => id))].flatMap((id) => {
    const outcomes = (byEvent.get(id) ?? []).map(({ outcome = "none" }) => outcome);
    const acted = outcomes.filter((outcome) => ACTED.includes(outcome)).length;
    const others = outcomes.filter((outcome) => !ACTED.includes(outcome) && outcome !== "duplicate");
    return acted === 1 && others.length === 0
      ? []
      : [`the event ${id} has the outcomes ${outcomes.join(", ") || "of none"}`];
  });
}

/** Each thread has one run, and each follow-up is of one delivery. */
function checkRuns(
  deliveries: readonly SeenDelivery[],
  runs: readonly SeenRun[],
  threads: ReadonlySet<number>,
): string[] {
  const urls = countBy(runs.map(({ trigger_url = "" }) => trigger_url));
  const followups = countBy(
    deliveries.flatMap(({ run_id, followup_id }) => (followup_id === undefined ? [] : [`${run_id} ${followup_id}`])),
  );
  return [
    ...(runs.length === threads.size ? [] : [`${runs.length} runs of ${threads.size} threads`]),
    ...Object.entries(urls).flatMap(([url, count]) => (count === 1 ? [] : [`${count} runs of ${url}`])),
    ...Object.entries(followups).flatMap(([name, count]) => (count === 1 ? [] : [`${count} deliveries sent ${name}`])),
  ];
}

/** Each thread has one comment. */
const checkReplies = ({ textsOn }: GithubStandIn, threads: ReadonlySet<number>): string[] =>
  [...threads].flatMap((issue) => {
    const count = textsOn(String(issue)).length;
    return count === 1 ? [] : [`${count} comments on the issue ${issue}`];
  });
