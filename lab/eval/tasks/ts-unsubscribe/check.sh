set -euo pipefail
node --test > /dev/null
check_node <<'EOF'
import assert from "node:assert/strict";
import { Emitter } from "./emitter.ts";
const emitter = new Emitter();
const seen = [];
const listener = (value) => seen.push(value);
const first = emitter.on(listener);
emitter.on(listener);
first();
first();
emitter.emit(1);
assert.deepEqual(seen, [1]);
const other = new Emitter();
const calls = [];
let drop;
other.on(() => { calls.push("a"); drop(); if (calls.length < 3) other.on(() => calls.push("late")); });
drop = other.on(() => calls.push("b"));
other.on(() => calls.push("c"));
other.emit(1);
assert.deepEqual(calls, ["a", "c"]);
other.emit(2);
assert.equal(calls.filter((name) => name === "late").length, 1);
EOF
