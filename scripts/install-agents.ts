import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root, runCommand } from "./run-command.ts";

const image = join(root, "image");

const Lock = v.object({ packages: v.record(v.string(), v.object({ version: v.optional(v.string()) })) });
const Versions = v.record(v.string(), v.string());
const Wanted = v.object({ dependencies: Versions, optionalDependencies: Versions });

/** Installs the third-party agents, unless they are. They are most of a gigabyte, so the repository's own packages leave them out. */
export async function setup(): Promise<void> {
  if (isInstalled()) return;
  const { exitCode, output } = await runCommand("npm", ["ci", "--prefix", image, "--loglevel=error"], {
    timeoutSeconds: 900,
  });
  if (exitCode !== 0) throw new Error(`npm ci --prefix image ended with ${exitCode}:\n${output}`);
}

/** npm writes down what it has installed when it is done. */
function isInstalled(): boolean {
  const installed = join(image, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const { packages } = v.parse(Lock, JSON.parse(readFileSync(installed, "utf8")));
  const { dependencies, optionalDependencies } = v.parse(
    Wanted,
    JSON.parse(readFileSync(join(image, "package.json"), "utf8")),
  );
  // Those that are optional are for one platform each.
  const own = Object.entries(optionalDependencies).filter(([name]) =>
    name.endsWith(`-${process.platform}-${process.arch}`),
  );
  return [...Object.entries(dependencies), ...own].every(
    ([name, version]) => packages[`node_modules/${name}`]?.version === version,
  );
}
