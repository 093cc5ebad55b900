/** Loaded by every Node process of the tests that look for planted bugs. */
import { appendFileSync } from "node:fs";

const noted = new Set();

globalThis.__planted = (id) => {
  const test = process.env.RUNYARD_TEST_FILE ?? "";
  const line = `${JSON.stringify([id, test])}\n`;
  if (process.env.RUNYARD_PLANTED_LOG !== undefined && !noted.has(line)) {
    noted.add(line);
    appendFileSync(process.env.RUNYARD_PLANTED_LOG, line);
  }
  return process.env.RUNYARD_PLANTED === String(id);
};
