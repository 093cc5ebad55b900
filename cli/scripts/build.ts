/** `npm run build` in cli/: the command as one file, for publication. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleCli } from "./bundle.ts";

const { file, text } = await bundleCli();
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, text);
chmodSync(file, 0o755);
