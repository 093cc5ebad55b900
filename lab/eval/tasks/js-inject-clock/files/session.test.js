import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createSession } from "./session.js";

test("expires", async () => {
  const session = createSession("ada");
  assert.equal(session.isExpired(), false);
  await pause(60);
  assert.equal(session.isExpired(), true);
});
