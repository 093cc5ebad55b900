import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import { createClient } from "../../support/client.ts";
import { workingRun } from "../../support/execution.ts";
import { fireAt, makeSchedule } from "../../support/schedules.ts";
import { createSkillControlPlane, type SkillControlPlane, shop, skill } from "../../support/skills.ts";
import { startSession } from "../../support/web-sessions.ts";
import { connectedWorker } from "../../support/worker.ts";

/** Lists with different items for each caller. */
interface Lists {
  /** Lists of the caller with the items of the caller's teams. */
  readonly ofTeams: readonly string[];
  /** Lists of the caller only, or of one of the caller's resources. */
  readonly ofCaller: readonly string[];
  /** Lists with the same items for all permitted callers. */
  readonly ofAll: readonly string[];
}

let skills: SkillControlPlane;
beforeEach(async () => {
  skills = await createSkillControlPlane();
});
afterEach(() => skills.github[Symbol.asyncDispose]());

/** Sends a POST and returns the id of the created resource. */
async function post(client: Client, target: string, body: unknown): Promise<string> {
  const response = await client.post(target, body);
  expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
  return response.body.uid ?? response.body.id ?? response.body.team_uid;
}

/** Creates at least two items in every list, and two lists of each kind. */
async function fillLists({ plane, user, github, environment }: SkillControlPlane): Promise<Lists> {
  for (const name of ["acme/shop", "acme/forge"]) github.repositories.set(name, shop);
  github.repositories.set("acme/broken", {
    files: { ".claude/skills/odd/SKILL.md": "---\n---\n", ".claude/skills/good/SKILL.md": skill("good") },
  });
  for (const name of ["shop", "forge", "broken"]) {
    await environment(name, [{ url: `https://github.com/acme/${name}` }]);
  }
  await post(user, "/agent/environments", { name: "Own", team: false });
  const identities: string[] = [];
  for (const name of ["one", "two"]) {
    await post(user, "/agent/secrets", { name: name.toUpperCase(), value: "hush" });
    await post(user, "/agent/keys", { name });
    const identity = await post(user, "/agent/identities", { name });
    identities.push(identity);
    for (const other of ["a", "b"]) {
      await post(user, `/agent/identities/${identity}/keys`, { name: other });
      await post(user, `/agent/identities/${identity}/trust-rules`, {
        issuer: "https://token.actions.githubusercontent.com",
        audience: "https://runyard.test",
        subject_pattern: `repo:acme/${other}:*`,
      });
    }
  }
  const runs: string[] = [];
  for (const title of ["one", "two"]) {
    const harness = await workingRun(plane, { prompt: "hello", title });
    runs.push(harness.run_id);
    const messages = [{ role: "user", content: [{ type: "text", text: "go on" }] }];
    await harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages });
  }
  const schedules = [await makeSchedule(plane, { name: "One" }), await makeSchedule(plane, { name: "Two" })];
  for (const time of ["2026-05-19T02:30:00Z", "2026-05-20T02:30:00Z"]) {
    for (const { id } of schedules) await fireAt(plane, id, time);
  }
  for (const name of ["one", "two"]) {
    await startSession(plane);
    await connectedWorker(plane, `worker-${name}`);
  }
  const other = await post(user, "/agent/teams", { name: "Gamma" });
  await plane.person("Zoe", [other]);
  for (const team of [plane.team, other]) {
    for (const name of ["x", "y"]) {
      await user.post(`/agent/teams/${team}/invitations`, { email: `${name}@runyard.test` });
    }
  }
  const each = (ids: readonly string[], path: (id: string) => string) => ids.map(path);
  return {
    ofTeams: [
      "/agent?",
      "/agent?sort_by=last_run",
      "/agent?include_malformed_skills=true",
      "/agent?repo=acme/shop",
      "/agent?repo=acme/forge",
      "/agent/connected-self-hosted-workers?",
      "/agent/environments?",
      "/agent/environments?sort_by=name",
      "/agent/identities?",
      "/agent/runs?",
      "/agent/runs?sort_by=created_at",
      "/agent/runs?sort_order=asc",
      "/agent/runs?execution_location=REMOTE",
      "/agent/schedules?",
      "/agent/secrets?",
      "/agent/teams?",
    ],
    ofCaller: [
      "/agent/keys?",
      "/sessions?",
      ...each(identities, (id) => `/agent/identities/${id}/keys?`),
      ...each(identities, (id) => `/agent/identities/${id}/trust-rules?`),
      ...each([plane.team, other], (id) => `/agent/teams/${id}/invitations?`),
      ...each([plane.team, other], (id) => `/agent/teams/${id}/members?`),
      ...schedules.map(({ id }) => `/agent/schedules/${id}/ticks?`),
    ],
    ofAll: [
      ...each(runs, (id) => `/agent/runs/${id}/timeline?`),
      ...each(runs, (id) => `/agent/runs/${id}/conversation?`),
      ...each(runs, (id) => `/agent/conversations/${id}?`),
    ],
  };
}

const REFUSED = "400: cursor";
/** Returns the status of the page after a cursor, with the field of an error. */
async function openPage(client: Client, target: string, cursor: string, headers = {}): Promise<string> {
  const { status, body } = await client.get(`${target}&limit=1&cursor=${cursor}`, { headers });
  return status === 200 ? "200" : `${status}: ${body.errors?.[0]?.path}`;
}

describe("the cursor of a list", () => {
  it("is valid only for that list with the same query, caller and team", async () => {
    const { plane, user } = skills;
    const mia = await plane.person("Mia");
    await user.put(`/agent/teams/${plane.team}/members/${mia.uid}`, { role: "admin" });
    const { ofTeams, ofCaller, ofAll } = await fillLists(skills);
    const targets = [...ofTeams, ...ofCaller, ...ofAll];
    const cursors = new Map<string, string>();
    for (const target of targets) {
      const { body } = await user.get(`${target}&limit=1`);
      expect(body.page_info, target).toMatchObject({ has_next_page: true });
      cursors.set(target, body.page_info.next_cursor);
    }
    const wrong: string[] = [];
    for (const [list, cursor] of cursors) {
      for (const target of targets) {
        const page = await openPage(user, target, cursor);
        if (page !== (target === list ? "200" : REFUSED)) wrong.push(`${target} with the cursor of ${list}: ${page}`);
      }
      const foreign = await openPage(createClient(plane, mia.key), list, cursor);
      const visible = ofAll.includes(list) ? "200" : REFUSED;
      if (foreign !== visible && !foreign.startsWith("404") && !foreign.startsWith("403"))
        wrong.push(`Mia, ${list}: ${foreign}`);
      const inTeam = await openPage(user, list, cursor, { "x-team-uid": plane.team });
      if (ofTeams.includes(list) && inTeam !== REFUSED) wrong.push(`${list} in one team: ${inTeam}`);
    }
    expect(wrong).toEqual([]);
  });
});
