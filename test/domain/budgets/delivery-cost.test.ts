import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { PRICE_TABLE } from "../../../operate/cost/price-table.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type CostedTable, costedTable, measureBill } from "../../support/costed-table.ts";
import { createHooks, type Hooks, signed } from "../../support/hooks.ts";

const SECRET = "a-secret-of-the-other-system";
/** What an invocation takes and how large its function is, as for other requests of the API. */
const GB_SECONDS = 0.03 * 0.5;
/** Sending, receiving and deleting a message of a queue. */
const QUEUE_REQUESTS = 3;
const page = readFileSync(join(import.meta.dirname, "../../../docs/cost.md"), "utf8");

let table: CostedTable;
let plane: TestControlPlane;
let hooks: Hooks;
let uid: string;
beforeEach(async () => {
  table = costedTable();
  plane = await createTestControlPlane(table);
  hooks = createHooks(plane);
  const members = { kind: "github", secret: SECRET, prompt: "Answer {{ event.text }}", allow: { anyone: true } };
  uid = (await hooks.create({ ...members, filter: "event.text != 'no'" })).body.uid;
  // A team's first run makes its counters, which no later one does.
  await deliver("first", 1);
});

/** Delivers a comment, and decides on it. Returns what both cost. */
async function deliver(text: string, issue: number, app?: { readonly installation: number }) {
  plane.clock.now += 60_000;
  const sender = { id: 1, login: "ada", type: "User" };
  const repository = { full_name: "o/r", id: 1 };
  const comment = { action: "created", sender, repository, comment: { body: text }, issue: { number: issue } };
  const payload = app === undefined ? comment : { ...comment, installation: { id: app.installation } };
  const body = JSON.stringify(payload);
  const files = plane.files.files.size;
  const runs = plane.sent.length;
  const headers = signed.github(SECRET, body, "issue_comment", `${text} ${issue}`);
  const { bill } = await measureBill(table, () =>
    app === undefined
      ? hooks.send(uid, body, headers)
      : request(plane, "POST", "/hooks/github-app", { key: undefined, body, headers }),
  );
  const [delivery] = await hooks.deliveries(uid);
  const hasDecision = delivery.outcome !== "duplicate";
  const { readUnits, writeUnits, calls } = bill;
  const puts = plane.files.files.size - files;
  const messages = (hasDecision ? 1 : 0) + plane.sent.length - runs;
  const invocations = hasDecision ? 2 : 1;
  const dollars =
    readUnits * PRICE_TABLE.readUnits.dollars +
    writeUnits * PRICE_TABLE.writeUnits.dollars +
    puts * PRICE_TABLE.puts.dollars +
    messages * QUEUE_REQUESTS * (PRICE_TABLE.queueRequests.dollars + PRICE_TABLE.fairQueueRequests.dollars) +
    invocations * (PRICE_TABLE.invocations.dollars + GB_SECONDS * PRICE_TABLE.gbSeconds.dollars) +
    PRICE_TABLE.httpRequests.dollars;
  return { outcome: delivery.outcome, calls, readUnits, writeUnits, puts, messages, invocations, dollars };
}

describe("the cost of a delivery to a trigger", () => {
  it("is what docs/cost.md says, by its outcome", async () => {
    const costs = [await deliver("run", 2), await deliver("more", 2), await deliver("no", 2), await deliver("run", 2)];
    const rows = costs.map(({ outcome, calls, readUnits, writeUnits, puts, messages, invocations, dollars }) => {
      const counts = [invocations, calls, readUnits, writeUnits, puts, messages].join(" | ");
      return `| \`${outcome}\` | ${counts} | $${(dollars * 1_000_000).toFixed(2)} |`;
    });
    expect(page.split("\n")).toEqual(expect.arrayContaining(rows));
  });

  it("of the GitHub App is what docs/cost.md says, by its outcome", async () => {
    const installation = 2_000_001;
    await claimInstallation(plane, plane.team);
    plane.repositories.appWebhookSecret = SECRET;
    const [run, more, no, again] = [
      await deliver("run", 2, { installation }),
      await deliver("more", 2, { installation }),
      await deliver("no", 2, { installation }),
      await deliver("run", 2, { installation }),
    ];
    const rows = [run, more, no, again].map(({ outcome, calls, readUnits, writeUnits, puts, messages, ...cost }) => {
      const counts = [cost.invocations, calls, readUnits, writeUnits, puts, messages].join(" | ");
      return `| \`${outcome}\`, of the App | ${counts} | $${(cost.dollars * 1_000_000).toFixed(2)} |`;
    });
    expect(page.split("\n")).toEqual(expect.arrayContaining(rows));
  });
});
