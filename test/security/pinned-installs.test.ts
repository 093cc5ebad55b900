import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const peers = ["lab/bench/peers/langgraph", "lab/bench/peers/openhands"];
const files = ["emulator/emulator-requirements", "lab/drill/requirements", "test/contract/requirements", ...peers];
const ofClient = ["lowest", "test", "tools"].map((name) => `clients/python/requirements/${name}`);

/** Returns the requirements of a file, each with its continuation lines. */
const readRequirements = (file: string) =>
  read(file)
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));

describe("a package that pip installs", () => {
  it.each([...files, ...ofClient])("has an exact version and hashes in %s.txt", (name) => {
    const requirements = readRequirements(`${name}.txt`);
    expect(requirements.length).toBeGreaterThan(5);
    for (const requirement of requirements)
      expect(requirement).toMatch(/^[\w.-]+==[\w.]+( ;[^\\]*?)?\s+(--hash=sha256:[0-9a-f]{64}\s*)+$/);
  });

  it.each(files)("is in %s.txt if %s.in requests it", (name) => {
    const pinned = readRequirements(`${name}.txt`).map((line) =>
      line.split(" ")[0]?.toLowerCase().replaceAll("_", "-"),
    );
    for (const wanted of readRequirements(`${name}.in`))
      expect(pinned).toContain(wanted.toLowerCase().replaceAll("_", "-"));
  });

  it.each(["emulator/python-environment.ts", "clients/python/scripts/check.py"])(
    "is refused without a hash by %s",
    (file) => {
      expect(read(file)).toContain("--require-hashes");
    },
  );
});

describe("the documentation", () => {
  it("pins actions in jobs with a key by commit", () => {
    const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root })];
    const used = pages.flatMap((page) => [...read(page).matchAll(/uses: \S+?@(\S+)/g)].map(([, ref]) => ref));
    expect(used.length).toBeGreaterThan(0);
    for (const ref of used) expect(ref).toMatch(/^[0-9a-f]{40}$/);
  });

  it("installs no package of ours from a registry that does not have it", () => {
    const readmes = ["README.md", "cli/README.md", "clients/*/README.md", "packages/*/README.md"];
    const examples = "examples/*/*{.md,.service,.yaml,Dockerfile}";
    const pages = globSync([...readmes, "docs/*.md", examples, "cli/src/**/*.ts"], { cwd: root });
    const found = pages.filter((page) =>
      /npx (--yes )?runyard|npm (i|install) (--global )?runyard|pip install runyard/.test(read(page)),
    );
    expect(found).toEqual([]);
  });
});
