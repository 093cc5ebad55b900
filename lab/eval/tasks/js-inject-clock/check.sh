set -euo pipefail
node --test > /dev/null
if grep -Eq "setTimeout|pause|sleep" session.test.js; then echo "the test sleeps"; exit 1; fi
check_node <<'EOF'
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { createSession } from "./session.js";
let time = 1_000;
const session = createSession("ada", { now: () => time });
assert.deepEqual([session.user, session.isExpired()], ["ada", false]);
time += 49;
assert.equal(session.isExpired(), false);
time += 1;
assert.equal(session.isExpired(), true);
const real = createSession("bob");
assert.equal(real.isExpired(), false);
await pause(80);
assert.equal(real.isExpired(), true);
EOF
