import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { request, routeNames } from "../../support/client.ts";
import { makeStage, PRINCIPALS, type Stage } from "../../support/principals.ts";
import { usedRights } from "../../support/rights.ts";
import { bodies, prepare, toTarget } from "../../support/valid-requests.ts";

const Matrix = v.record(v.string(), v.record(v.string(), v.number()));
const readJson = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8"));
const matrix = v.parse(Matrix, readJson("principals.matrix.json"));
/** Rights whose use the test ports record. */
const RECORDED = ["table", "indexes", "live", "watch", "runsQueue", "endsQueue", "reaperQueue", "sandbox"];

// Other files of the same process have used rights, too.
usedRights.clear();

describe("principals.matrix.json", () => {
  it("has a row for every route, and a column for every principal", () => {
    expect(Object.keys(matrix).toSorted()).toEqual([...routeNames].toSorted());
    for (const [route, row] of Object.entries(matrix)) expect(Object.keys(row), route).toEqual([...PRINCIPALS]);
  });
});

describe.each(Object.keys(matrix))("%s", (route) => {
  /** The stage of the last request if that changed nothing: then it serves the next one as well. */
  let unchanged: Stage | undefined;

  // @contract general.visibility.team-run: A team run is visible to every member and every agent of its team.
  // @contract general.visibility.team-act: They may follow it up and cancel it.
  // @contract general.run-key.own: A run's key reads its own run.
  // @contract general.run-key.descendants
  // @contract general.run-key.others: Everything else is 403 for a run's key.
  // @contract teams.who.personal: These routes require personal keys: an agent's or a run's key is 403.
  it.each(PRINCIPALS.map((principal) => ({ principal, status: matrix[route]?.[principal] })))(
    "returns $status to $principal",
    async ({ principal, status }) => {
      const stage = unchanged ?? (await makeStage());
      if (unchanged === undefined) await prepare(route, stage);
      unchanged = undefined;
      const [method = ""] = route.split(" ");
      const body = bodies[route]?.(stage);
      const options = { ...stage.credentials(principal), ...(body === undefined ? {} : { body }) };
      const before = structuredClone(stage.plane.table.all());
      const response = await request(stage.plane, method, toTarget(route, stage), options);
      expect(response.status, JSON.stringify(response.body)).toBe(status);
      if (response.status < 400) return;
      expect(stage.plane.table.all(), "a refused request changes nothing").toEqual(before);
      unchanged = stage;
    },
  );
});

describe("the rights of a route", () => {
  /** Rights that only special cases use: a waiting run, a repeated request, a team with runs, concurrent changes. */
  const special = v.parse(v.record(v.string(), v.array(v.string())), readJson("special-rights.json"));

  it("are used by the requests above, except those that only special cases use", () => {
    const unused = routes.flatMap(({ file, rights }) => {
      const granted = Object.entries(rights).flatMap(([resource, actions]) =>
        RECORDED.includes(resource) ? [actions].flat().map((action) => `${resource}: ${action}`) : [],
      );
      const left = granted.filter((right) => !usedRights.get(file)?.has(right)).toSorted();
      return left.length === 0 ? [] : [[file, left]];
    });
    expect(Object.fromEntries(unused)).toEqual(special);
  });
});
