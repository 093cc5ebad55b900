import { bundle, bundleSizes } from "#infra/bundle.ts";
import { mkdtempSync } from "node:fs";
const made = bundle({ outdir: mkdtempSync("/tmp/bsz-") + "/functions" });
for (const s of bundleSizes(made)) if (/^runs\//.test(s.output)) console.log(s.output, s.bytes, s.ownBytes);
const all = bundleSizes(made).map((s) => [s.ownBytes, s.output] as const).sort((a, b) => b[0] - a[0]).slice(0, 12);
console.log(all);
