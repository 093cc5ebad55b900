/** Part of `npm run docs`: generates docs/openapi.json. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateDocument } from "./openapi/document.ts";
import { root } from "./run-command.ts";

const file = join(root, "docs/openapi.json");
// The generator imports all functions, and one of them imports the document.
if (!existsSync(file)) writeFileSync(file, '{ "openapi": "3.1.1" }\n');
writeFileSync(file, `${JSON.stringify(await generateDocument(), null, 2)}\n`);
