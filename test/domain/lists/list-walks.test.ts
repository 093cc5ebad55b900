import { describe } from "vitest";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { listWalkContract } from "../../support/list-walk-contract.ts";

describe("reading a list page by page", () => {
  // @contract runs.cursor.stable: Reading all pages returns each unchanged run once while others change.
  listWalkContract(() => createTestControlPlane());
});
