/** `npm run docs`: the client's types, methods and api.md, generated from docs/openapi.json and clients/methods.json. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generate } from "./generated-files.ts";

for (const [file, text] of Object.entries(await generate())) {
  writeFileSync(join(import.meta.dirname, "..", file), text);
}
