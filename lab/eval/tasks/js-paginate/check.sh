set -euo pipefail
check_node <<'EOF'
import assert from "node:assert/strict";
import { listAll } from "./pages.js";
const calls = [];
const pages = { undefined: { items: [1, 2], next: "a" }, a: { items: [], next: "b" }, b: { items: [3], next: null } };
const fetchPage = async (cursor) => (calls.push(cursor), pages[cursor]);
const found = [];
for await (const item of listAll(fetchPage)) found.push(item);
assert.deepEqual([found, calls], [[1, 2, 3], [undefined, "a", "b"]]);
calls.length = 0;
const items = listAll(fetchPage);
assert.equal((await items.next()).value, 1);
assert.equal((await items.next()).value, 2);
assert.deepEqual(calls, [undefined]);
await assert.rejects(async () => { let count = 0; for await (const _ of listAll(async () => ({ items: [1], next: "x" }))) if (++count > 9) break; }, /cursor/i);
EOF
