import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { downloadPatch, listChanges } from "../cli/src/changes/changes.ts";
import type { RunItem } from "../clients/typescript/src/index.ts";
import type { ActionClient } from "./client.ts";
import type { Job } from "./job.ts";

/** Saves the changes of each repository as a file for `git apply`, and returns the files' paths. */
export async function savePatches(job: Job, client: ActionClient, run: RunItem): Promise<string[]> {
  const changes = listChanges(run);
  if (changes.length === 0) return [];
  const folder = mkdtempSync(path.join(job.env["RUNNER_TEMP"] || tmpdir(), "runyard-"));
  const files: string[] = [];
  for (const [index, change] of changes.entries()) {
    // The name of the repository comes from the run, and stays out of the path.
    const file = path.join(folder, `${index + 1}.patch`);
    writeFileSync(file, await downloadPatch(client, change));
    files.push(file);
  }
  return files;
}
