import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "./emitter.ts";

test("calls listeners in order", () => {
  const emitter = new Emitter<number>();
  const seen: string[] = [];
  emitter.on((value) => seen.push(`a${value}`));
  emitter.on((value) => seen.push(`b${value}`));
  emitter.emit(1);
  assert.deepEqual(seen, ["a1", "b1"]);
});
