set -euo pipefail
if grep -q switch shapes.ts; then echo "still a switch"; exit 1; fi
check_node <<'EOF'
import assert from "node:assert/strict";
import { area, describe } from "./shapes.ts";
assert.equal(area({ kind: "square", side: 3 }), 9);
assert.ok(Math.abs(area({ kind: "circle", radius: 1 }) - Math.PI) < 1e-9);
assert.equal(describe({ kind: "circle", radius: 2 }), "a circle of radius 2");
assert.equal(describe({ kind: "square", side: 3 }), "a square of side 3");
for (const kind of ["cube", "toString", "__proto__"]) for (const call of [area, describe]) assert.throws(() => call({ kind }), { name: "TypeError", message: "unknown shape" });
EOF
grep -q "export type Shape" shapes.ts
