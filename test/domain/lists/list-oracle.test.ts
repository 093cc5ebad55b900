import { describe } from "vitest";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { listContract } from "../../support/list-contract.ts";

describe("a list of runs", () => {
  // @contract runs.list.sort: sort_by is updated_at, created_at, title or agent; sort_order is desc or asc.
  // @contract runs.list.and: Filters combine with AND.
  listContract(() => createTestControlPlane());
});
