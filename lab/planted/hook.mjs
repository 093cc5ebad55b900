/** Loaded by the instrumented code: notes once which block ran, and for which test file. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const log = join(import.meta.dirname, "../../reached.jsonl");
const noted = new Set();

export function note(key) {
  if (noted.has(key)) return;
  noted.add(key);
  const by = process.env.RUNYARD_TEST_FILE ?? findAncestors();
  try {
    appendFileSync(log, `${JSON.stringify([key, by])}\n`);
  } catch {
    // A sandbox hides the log.
  }
}

/** A process without the variables of the test: the test is that of the worker that started it. */
function findAncestors() {
  const pids = [];
  let pid = process.ppid;
  while (pid > 1 && pids.length < 20) {
    pids.push(pid);
    try {
      pid = Number(
        readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /, "")
          .split(" ")[1],
      );
    } catch {
      break;
    }
  }
  return pids;
}
