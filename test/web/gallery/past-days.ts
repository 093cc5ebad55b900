import type { Page } from "playwright-core";

const DAY_MS = 86_400_000;
/** Numbers between 0 and 1 that look random and are the same in each picture. */
const wave = (index: number): number => (Math.sin(index * 12.9898) * 43758.5453) % 1 ** 2;
const share = (index: number): number => Math.abs(wave(index));

/** Adds usage, ticks and deliveries of past days, which a service that was started a minute ago does not have. */
export async function addPastDays(page: Page): Promise<void> {
  await page.route("**/agent/usage?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const group = query.get("group_by");
    return route.fulfill({ json: { buckets: group === "day" ? usageByDay(30) : usageByName(), currency: "USD" } });
  });
  await page.route("**/teams/*", async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const response = await route.fetch();
    const team = await response.json();
    await route.fulfill({ response, json: { ...team, month: { ...team.month, budget_usd: 400, spent_usd: 271.08 } } });
  });
  const key = {
    uid: "k1",
    key: "rya_2YtBojK9hc3vLsG5pwzEBzte2PgvThNbL38t14QaRoi",
    name: "Nightly builds",
    suffix: "aRoi",
  };
  await page.route("**/agent/identities/*/keys", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 201, json: { ...key, created_at: new Date().toISOString() } })
      : route.fallback(),
  );
  await page.route("**/agent/schedules/*/ticks*", async (route) => {
    const runs = { run_id: "0199a0c4-0000-7000-8000-000000000001" };
    const ticks = Array.from({ length: 42 }, (_, index) => {
      const scheduled_at = new Date(Date.UTC(2026, 4, 18, 0, 30) - index * DAY_MS).toISOString();
      if (index === 9) return { scheduled_at, outcome: "late", ...runs };
      if (index === 17 || index === 18)
        return { scheduled_at, outcome: "skipped", reason: "the last run was still active" };
      if (index === 30) return { scheduled_at, outcome: "failed", reason: "the environment no longer exists" };
      return { scheduled_at, outcome: "fired", ...runs };
    });
    await route.fulfill({ json: { ticks, page_info: { has_next_page: false } } });
  });
  await page.route("**/agent/webhooks", (route) => route.fulfill({ json: { webhooks } }));
  await page.route("**/agent/webhooks/*/deliveries?*", (route) =>
    route.fulfill({ json: { deliveries: deliveries() } }),
  );
}

function usageByDay(days: number) {
  return Array.from({ length: days }, (_, index) => {
    const at = new Date(Date.now() - (days - 1 - index) * DAY_MS);
    const isWeekend = at.getUTCDay() % 6 === 0;
    const runs = Math.round((isWeekend ? 6 : 34) * (0.6 + share(index)));
    const failed = Math.round(runs * 0.16 * share(index + 50));
    return bucket(at.toISOString().slice(0, 10), runs, failed, 0.21 + 0.2 * share(index + 90));
  });
}

const usageByName = () => [
  bucket("compatible/coder-large", 512, 31, 0.52),
  bucket("compatible/coder-small", 298, 22, 0.08),
  bucket("local/runbook", 97, 12, 0),
  bucket(null, 4, 4, 0),
];

const bucket = (key: string | null, runs: number, failed: number, price: number) => ({
  key,
  runs,
  failed,
  succeeded: Math.max(0, runs - failed - Math.round(runs * 0.03)),
  total_tokens: Math.round(runs * price * 190_000),
  cost_usd: runs * price,
  run_seconds: runs * 214,
});

const webhook = {
  created_at: "2026-05-04T08:00:00Z",
  updated_at: "2026-05-04T08:00:00Z",
  created_by: { type: "user", uid: "u1" },
  scope: { type: "Team", uid: "t1" },
};
const webhooks = [
  {
    ...webhook,
    uid: "w1",
    name: "Deployments",
    url: "https://hooks.example.com/runyard",
    event_types: ["run_succeeded", "run_failed"],
    filter: { metadata: { deploy: "yes" } },
    enabled: true,
  },
  { ...webhook, uid: "w2", url: "https://chat.example.com/hooks/8f3a", event_types: ["run_blocked"], enabled: false },
];

/** A receiver that was down for a few minutes. */
function deliveries() {
  const minutes = (count: number) => new Date(Date.now() - count * 60_000).toISOString();
  const attempt = (ago: number, result: object) => ({ attempted_at: minutes(ago), duration_ms: 120, ...result });
  const delivery = (sequence: number, ago: number, state: string, attempts: readonly object[]) => ({
    sequence,
    event_type: sequence === 41 ? "run_failed" : "run_succeeded",
    run_id: `0199a3c4-8c2f-7d63-8e1f-4a7b9c3d${5000 + sequence}`,
    run_sequence: 9,
    state,
    created_at: minutes(ago),
    attempts,
  });
  const refused = { error: "the connection failed: ECONNREFUSED" };
  return [
    {
      ...delivery(42, 4, "pending", [attempt(4, refused), attempt(3, { status_code: 503 })]),
      next_attempt_at: minutes(-3),
    },
    delivery(41, 19, "delivered", [attempt(19, { status_code: 503 }), attempt(18, { status_code: 204 })]),
    delivery(40, 64, "delivered", [attempt(64, { status_code: 204 })]),
  ];
}
