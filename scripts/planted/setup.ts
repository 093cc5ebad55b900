import { relative } from "node:path";
import { expect } from "vitest";

// The processes that a test starts inherit it.
process.env["RUNYARD_TEST_FILE"] = relative(process.cwd(), expect.getState().testPath ?? "");
