set -euo pipefail
node --test > /dev/null
check_node <<'EOF'
import assert from "node:assert/strict";
import { topScores } from "./scores.js";
assert.deepEqual(topScores([9, 100, 20], 2), [100, 20]);
const own = [1, 2];
topScores(own, 1);
assert.deepEqual(own, [1, 2], "changes the list of its caller");
EOF
git checkout --quiet HEAD -- scores.js
if node --test > /dev/null 2>&1; then echo "no test fails without the repair"; exit 1; fi
