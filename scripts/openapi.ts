/** `npm run docs`: regenerates docs/openapi.json. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateDocument } from "./openapi/document.ts";
import { root } from "./run-command.ts";

const file = join(root, "docs/openapi.json");
// The functions that serve the document import it, and are imported here for what they say of themselves.
if (!existsSync(file)) writeFileSync(file, '{ "openapi": "3.1.1" }\n');
writeFileSync(file, `${JSON.stringify(await generateDocument(), null, 2)}\n`);
