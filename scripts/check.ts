/** `npm run check`: format and lint, types, layers, folder sizes, terms, unused code, templates of AWS, recorded texts. `npm run check -- tsc knip` runs only those. */
import { checkNames, describeCheck, runChecks } from "./checks.ts";

const names = process.argv.slice(2);
const results = await runChecks(names.length > 0 ? names : checkNames);
for (const result of results) {
  console.log(describeCheck(result));
}
process.exitCode = results.every((result) => result.ok) ? 0 : 1;
