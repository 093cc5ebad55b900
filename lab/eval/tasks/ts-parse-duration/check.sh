set -euo pipefail
check_node <<'EOF'
import assert from "node:assert/strict";
import { formatBytes, parseDuration } from "./src/index.ts";
assert.equal(formatBytes(2048), "2.0 KiB");
for (const [text, ms] of [["90s", 90_000], ["1h30m", 5_400_000], ["250ms", 250], ["2d", 172_800_000], ["1d1h1m1s1ms", 90_061_001], ["0s", 0]]) assert.equal(parseDuration(text), ms, text);
for (const text of ["", "5", "s", "1m1h", "1s1s", "1.5h", "-1s", " 1s", "1s ", "1x", "1ms1s"]) assert.throws(() => parseDuration(text), (error) => error instanceof RangeError && error.message.includes(text), text);
EOF
