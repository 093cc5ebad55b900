import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { ScanRequest } from "#shared/wire/scan.ts";
import { closeInherited } from "./isolation/processes.ts";
import { scan } from "./skills/scan.ts";

/** Reads a scan request from standard input and writes only its result to standard output. */
async function main(): Promise<void> {
  closeInherited();
  const request = v.parse(ScanRequest, JSON.parse(readFileSync(0, "utf8")));
  const folder = mkdtempSync(join(tmpdir(), "runyard-scan-"));
  try {
    const response = JSON.stringify(await scan(request, folder));
    await new Promise<void>((resolve) => process.stdout.write(response, () => resolve()));
  } finally {
    await removeTree(folder);
  }
}

main().then(
  () => process.exit(0),
  () => {
    // The request may contain a credential, so the message says nothing about it.
    process.stderr.write("the scan failed\n");
    process.exit(1);
  },
);
