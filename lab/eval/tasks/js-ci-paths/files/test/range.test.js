import assert from "node:assert/strict";
import { test } from "node:test";
import { range } from "../lib/range.js";

test("counts from 0", () => assert.deepEqual(range(3), [0, 1, 2]));
