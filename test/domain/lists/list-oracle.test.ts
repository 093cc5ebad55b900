import { describe } from "vitest";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { listContract } from "../../support/list-contract.ts";

describe("a list of runs", () => {
  listContract(() => createTestControlPlane());
});
