import { TAP_FILE } from "./command-output.ts";

/**
 * A module that runs inside the sandbox, next to Claude Code. The agent lets each of its shells write to a file of its own, which it reads
 * itself, so following these files changes nothing for the agent. They are found by the standard output of the processes of this run.
 */
export const CLAUDE_OBSERVER = `import { closeSync, fstatSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from "node:fs";
import { createTap, readSocket } from "./${TAP_FILE}";
const KEPT_BYTES = 64 * 1024;
const RUN = "RUNYARD_RUN_ID=" + process.env.RUNYARD_RUN_ID + "\\0";
const followed = new Map();
function findOutputs() {
  const outputs = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).sort((one, other) => one - other)) {
    try {
      const file = readlinkSync("/proc/" + pid + "/fd/1");
      if (!file.endsWith(".output") || outputs.has(file)) continue;
      if (!readFileSync("/proc/" + pid + "/environ", "utf8").includes(RUN)) continue;
      outputs.set(file, readFileSync("/proc/" + pid + "/cmdline", "utf8"));
    } catch {}
  }
  return outputs;
}
function follow(file, script) {
  const descriptor = openSync(file, "r");
  const tap = createTap(script);
  let position = 0;
  const read = () => {
    const { size } = fstatSync(descriptor);
    if (size - position > KEPT_BYTES) {
      tap.skip(size - KEPT_BYTES - position);
      position = size - KEPT_BYTES;
    }
    const chunk = Buffer.alloc(Math.max(0, size - position));
    const length = readSync(descriptor, chunk, 0, chunk.length, position);
    position += length;
    if (length > 0) tap.push(chunk.subarray(0, length));
  };
  return {
    read,
    end() {
      read();
      tap.end();
      closeSync(descriptor);
    },
  };
}
setInterval(() => {
  if (readSocket() === undefined) return;
  const outputs = findOutputs();
  for (const [file, script] of outputs) {
    try {
      if (!followed.has(file)) followed.set(file, follow(file, script));
      followed.get(file).read();
    } catch {}
  }
  for (const [file, following] of followed) {
    if (outputs.has(file)) continue;
    followed.delete(file);
    try {
      following.end();
    } catch {}
  }
}, 250).unref();
`;
