import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect } from "vitest";

const file = relative(process.cwd(), expect.getState().testPath ?? "");
// The processes that a test starts inherit the variable, or have this process as an ancestor.
process.env["RUNYARD_TEST_FILE"] = file;
appendFileSync(join(process.cwd(), "reached.jsonl"), `${JSON.stringify([process.pid, file])}\n`);
