/**
 * A mutant of code that kills processes may choose all of them. Those that try mutants have to survive that, or the measurement ends:
 * the kill is refused. In the process of the tests the current test fails for it, and a process that a test started ends.
 */
import { readFileSync } from "node:fs";

const VARIABLE = "RUNYARD_MUTATION_KEPT_ALIVE";

/** Why the current test fails: what a mutant tried to kill. */
globalThis.__stryker__ ??= {};
globalThis.__stryker__.refusedKills = [];

process.env[VARIABLE] ??= listOwnTree().join(" ");
const isTestProcess = process.env[VARIABLE].split(" ")[0] === String(process.pid);
const kept = new Set(process.env[VARIABLE].split(" ").map(Number));

const kill = process.kill.bind(process);
process.kill = (pid, signal) => {
  // 0 and -1 are the whole group and all processes; signal 0 only checks whether there is such a process.
  if (signal === 0 || !(kept.has(pid) || pid === 0 || pid === -1)) return kill(pid, signal);
  globalThis.__stryker__.refusedKills.push(`the code kills process ${pid}, which no test started`);
  if (!isTestProcess) process.exit(1);
  return true;
};

/** The ids of this process and of those that it descends from, and their process groups as negative numbers. */
function listOwnTree() {
  const pids = [];
  const groups = new Set();
  for (let pid = process.pid; pid > 0; ) {
    const stat = readStat(pid);
    pids.push(pid);
    if (stat === undefined) break;
    groups.add(-stat.group);
    pid = stat.parent;
  }
  return [...pids, ...groups];
}

function readStat(pid) {
  try {
    // The name of the program may have spaces and brackets.
    const [, parent, group] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ").map(Number);
    return { parent, group };
  } catch {
    // Without /proc (macOS) only the process itself is kept.
    return undefined;
  }
}
