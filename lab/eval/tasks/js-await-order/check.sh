set -euo pipefail
check_node <<'EOF'
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { saveAll } from "./save.js";
const saved = [];
let open = 0;
const save = async (name) => {
  assert.equal(++open, 1, "saves at the same time");
  await pause(name === "a" ? 20 : 1);
  open--;
  if (name === "bad") throw new Error("full");
  saved.push(name);
};
assert.equal(await saveAll(["a", "b", "c"], save), 3);
assert.deepEqual(saved, ["a", "b", "c"]);
await assert.rejects(saveAll(["d", "bad", "e"], save), /full/);
assert.deepEqual(saved, ["a", "b", "c", "d"]);
assert.equal(await saveAll([], save), 0);
EOF
