/**
 * `node scripts/release.ts [DIRECTORY]`: makes the packages of a release, as they are published: for npm the command line, the
 * TypeScript client and the server, for PyPI the wheel and the source of the Python client, and SHA256SUMS. It publishes nothing:
 * .github/workflows/release.yml does that with the same files.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./run-command.ts";

const folder = path.resolve(process.argv[2] ?? path.join(root, "dist/release"));
/** The packages of npm, by their directories. */
const PACKAGES = ["clients/typescript", "cli", "packages/runyard-server"];

const version = readVersion("package.json");
for (const name of PACKAGES) {
  const own = readVersion(`${name}/package.json`);
  if (own !== version) throw new Error(`${name}/package.json has the version ${own}, and package.json ${version}`);
}
const python = /__version__ = "([^"]+)"/.exec(readText("clients/python/src/runyard/_version.py"))?.[1];
if (python !== version) throw new Error(`The Python client has the version ${python}, and package.json ${version}`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of PACKAGES) run("npm", ["pack", "--silent", "--pack-destination", folder], path.join(root, name));
run(
  process.env["RUNYARD_PYTHON"] ?? "python3",
  ["-m", "hatchling", "build", "-d", folder],
  path.join(root, "clients/python"),
);
const lines = readdirSync(folder)
  .toSorted()
  .map((file) => `${hash("sha256", readFileSync(path.join(folder, file)))}  ${file}\n`);
const sums = lines.join("");
writeFileSync(path.join(folder, "SHA256SUMS"), sums);
process.stdout.write(sums);

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

function readVersion(file: string): string {
  const manifest: { version?: unknown } = JSON.parse(readText(file));
  return String(manifest.version);
}
