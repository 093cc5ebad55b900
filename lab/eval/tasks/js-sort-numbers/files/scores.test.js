import assert from "node:assert/strict";
import { test } from "node:test";
import { topScores } from "./scores.js";

test("returns the highest scores", () => assert.deepEqual(topScores([3, 1, 2], 2), [3, 2]));
