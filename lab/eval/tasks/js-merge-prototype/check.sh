set -euo pipefail
check_node <<'EOF'
import assert from "node:assert/strict";
import { merge } from "./merge.js";
merge({}, JSON.parse('{"__proto__": {"polluted": 1}}'));
assert.equal({}.polluted, undefined);
merge({ f() {} }, JSON.parse('{"constructor": {"prototype": {"polluted": 2}}, "a": {"__proto__": {"polluted": 3}}}'));
merge({ a: {} }, JSON.parse('{"a": {"__proto__": {"polluted": 3}}, "toString": {"polluted": 4}}'));
assert.equal({}.polluted, undefined);
assert.equal(Object.polluted, undefined);
assert.equal(Object.prototype.toString.polluted, undefined);
assert.deepEqual(merge({ b: 1 }, JSON.parse('{"__proto__": {"x": 1}, "c": 2}')), { b: 1, c: 2 });
assert.deepEqual(merge({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2], e: 3 }, d: { f: 1 } }), { a: { b: 1, c: [2], e: 3 }, d: { f: 1 } });
EOF
