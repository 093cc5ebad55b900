/** Part of `npm run docs`: docs/cli.md, and the GitHub Action's one file, which is kept in the repository. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleAction } from "./bundle.ts";
import { cliPage, pageFile } from "./page.ts";

writeFileSync(pageFile, cliPage());
const { file, text } = await bundleAction();
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, text);
