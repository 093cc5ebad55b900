import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { request, routeNames } from "../support/client.ts";
import { makeStage, PRINCIPALS } from "../support/principals.ts";
import { bodies, prepare, toTarget } from "../support/valid-requests.ts";

const Matrix = v.record(v.string(), v.record(v.string(), v.number()));
const matrix = v.parse(Matrix, JSON.parse(readFileSync(join(import.meta.dirname, "principals.matrix.json"), "utf8")));

describe("principals.matrix.json", () => {
  it("has a row for every route, and a column for every principal", () => {
    expect(Object.keys(matrix).toSorted()).toEqual([...routeNames].toSorted());
    for (const [route, row] of Object.entries(matrix)) expect(Object.keys(row), route).toEqual([...PRINCIPALS]);
  });
});

describe.each(Object.keys(matrix))("%s", (route) => {
  it.each(PRINCIPALS.map((principal) => ({ principal, status: matrix[route]?.[principal] })))(
    "returns $status to $principal",
    async ({ principal, status }) => {
      const stage = await makeStage();
      await prepare(route, stage);
      const [method = ""] = route.split(" ");
      const body = bodies[route]?.(stage);
      const options = { ...stage.credentials(principal), ...(body === undefined ? {} : { body }) };
      const before = structuredClone(stage.plane.table.all());
      const answer = await request(stage.plane, method, toTarget(route, stage), options);
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
      if (answer.status >= 400) expect(stage.plane.table.all(), "who is refused changes nothing").toEqual(before);
    },
  );
});
