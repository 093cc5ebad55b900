import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";

const image = join(import.meta.dirname, "../../../image");

const Lock = v.object({ packages: v.record(v.string(), v.object({ version: v.optional(v.string()) })) });
const Wanted = v.object({ dependencies: v.record(v.string(), v.string()) });

/** Installs the agents of others, which the repository's own packages do not bring: they are most of a gigabyte. */
export function setup(): void {
  if (isInstalled()) return;
  execFileSync("npm", ["ci", "--prefix", image], { stdio: "inherit", timeout: 600_000 });
}

/** npm writes down what it has installed when it is done. */
function isInstalled(): boolean {
  const installed = join(image, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const { packages } = v.parse(Lock, JSON.parse(readFileSync(installed, "utf8")));
  const { dependencies } = v.parse(Wanted, JSON.parse(readFileSync(join(image, "package.json"), "utf8")));
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}
