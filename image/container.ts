import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where the envelope lies until it is taken. */
const inbox = (folder: string) => join(folder, "in");
const envelopeFile = (folder: string) => join(inbox(folder), "envelope.json");

/**
 * The first container of a task: puts this Node, the harness and the envelope into a volume, for the container that works. Whoever
 * that one runs as has to be able to read it all, and to take the envelope away.
 */
export function copyHarness(folder: string, envelope: string): void {
  const own = import.meta.dirname;
  const programs = readdirSync(own).filter((name) => name.endsWith(".mjs"));
  mkdirSync(inbox(folder), { recursive: true });
  chmodSync(folder, 0o755);
  chmodSync(inbox(folder), 0o777);
  for (const name of programs) copyFileSync(join(own, name), join(folder, name));
  copyFileSync(process.execPath, join(folder, "node"));
  chmodSync(join(folder, "node"), 0o755);
  for (const name of programs) chmodSync(join(folder, name), 0o644);
  JSON.parse(envelope);
  writeFileSync(envelopeFile(folder), envelope, { mode: 0o644 });
}

/** The second container: takes the envelope out of the volume, before any command could read it there. */
export function takeEnvelope(folder: string): unknown {
  const text = readFileSync(envelopeFile(folder), "utf8");
  rmSync(envelopeFile(folder));
  const envelope: unknown = JSON.parse(text);
  return envelope;
}
