/** Gives Node processes the variables of a mutant, also where they are started with an environment of their own. */
import { ChildProcess } from "node:child_process";
import { basename } from "node:path";

const NAMES = [
  "NODE_OPTIONS",
  "RUNYARD_MUTATION_COVERAGE",
  "RUNYARD_MUTATION_TEST",
  "RUNYARD_MUTATION_HIT_LIMIT",
  "RUNYARD_MUTATION_KEPT_ALIVE",
  "__STRYKER_ACTIVE_MUTANT__",
];

const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const { file, envPairs } = options;
  if (basename(file) !== "node" || envPairs === undefined) return spawn.call(this, options);
  const given = new Set(envPairs.map((pair) => pair.split("=", 1)[0]));
  const missing = NAMES.filter((name) => process.env[name] !== undefined && !given.has(name));
  return spawn.call(this, {
    ...options,
    envPairs: [...envPairs, ...missing.map((name) => `${name}=${process.env[name]}`)],
  });
};
