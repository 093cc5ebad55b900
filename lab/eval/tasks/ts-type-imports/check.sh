set -euo pipefail
git diff --quiet HEAD -- ci.sh package.json
test "$(./ci.sh)" = "> Warn: low"
check_node <<'EOF'
import assert from "node:assert/strict";
import { Formatter, Level } from "./log.ts";
assert.equal(new Formatter("#").format({ level: Level.Info, text: "x" }), "# Info: x");
EOF
