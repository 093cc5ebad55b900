import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The directory of the envelope until it is taken. */
const inbox = (folder: string) => join(folder, "in");
const envelopeFile = (folder: string) => join(inbox(folder), "envelope.json");

/**
 * Runs in the first container of a task: copies this Node, the harness and the envelope into a volume for the second container, which may
 * run as any user and must be able to read the files and remove the envelope.
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

/** Runs in the second container: removes the envelope from the volume before a command could read it. */
export function takeEnvelope(folder: string): unknown {
  const text = readFileSync(envelopeFile(folder), "utf8");
  rmSync(envelopeFile(folder));
  const envelope: unknown = JSON.parse(text);
  return envelope;
}
