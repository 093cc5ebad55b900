import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listSkills, readSkill } from "#harness/skills/skill-index.ts";
import { loadSkill } from "#harness/skills/skills.ts";

const CLONE = { owner: "acme", name: "tools", path: "tools", commit: "" };
const OTHER = { owner: "acme", name: "shop", path: "shop", commit: "" };
const skillOf = (name: string, description: string, body = "Body.\n") =>
  `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n${body}`;

let workspace = "";
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "skills-")));
  for (const { path } of [CLONE, OTHER]) mkdirSync(join(workspace, path));
});
afterEach(() => rmSync(workspace, { recursive: true }));

function write(path: string, text: string, clone = CLONE): void {
  const file = join(workspace, clone.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("loadSkill", () => {
  const load = (spec: string) => loadSkill(spec, [CLONE, OTHER], workspace);

  it.each(["tools", ":a", "tools:", "a/b/tools:x", "/tools:x", "a:b/c:d/e:\n"])(
    "rejects %j, which names no skill",
    async (spec) => {
      await expect(load(spec)).rejects.toMatchObject({ name: "SetupError" });
    },
  );

  it("explains the form of a skill's name", async () => {
    const message = "skill tools: must have the form owner/repo:skill-name or owner/repo:path";
    await expect(load("tools")).rejects.toMatchObject({ message });
    await expect(load("tools:")).rejects.toThrow("must have the form");
    await expect(load("a/b/tools:x")).rejects.toThrow("must have the form");
    write("docs/a.md", "Text.\n");
    await expect(load("tools:docs/a.md\n")).rejects.toThrow("must have the form");
    await expect(load("x\ntools:a")).rejects.toThrow("was not cloned");
  });

  it("finds a skill in any case of its repository's name", async () => {
    write("docs/a.md", "Text.\n");
    expect(await load("ACME/Tools:docs/a.md")).toStrictEqual({
      name: "docs",
      id: "acme/tools:docs/a.md",
      body: "Text.\n",
    });
    write("a.md", skillOf("n", "d"));
    expect(await load("tools:a.md")).toEqual({ name: "n", description: "d", id: "acme/tools:a.md", body: "Body.\n" });
    write("b.md", "Text.\n");
    expect(await load("tools:b.md")).toMatchObject({ name: "b.md" });
  });

  it("distinguishes repositories of the same name by their owners", async () => {
    const fork = { owner: "fork", name: "tools", path: "fork-tools", commit: "" };
    for (const clone of [CLONE, fork]) write("a.md", `Of ${clone.owner}.`, clone);
    const bodyOf = async (spec: string) => (await loadSkill(spec, [CLONE, fork], workspace)).body;
    expect([await bodyOf("fork/tools:a.md"), await bodyOf("acme/tools:a.md"), await bodyOf("tools:a.md")]).toEqual([
      "Of fork.",
      "Of acme.",
      "Of acme.",
    ]);
    await expect(bodyOf("other/tools:a.md")).rejects.toThrow("was not cloned; cloned: acme/tools, fork/tools");
  });

  it("follows links within the repository, and neither a link nor a path out of it", async () => {
    write("docs/a.md", "Text.");
    write("a.md", "Another's.", OTHER);
    for (const [name, target] of [
      ["in.md", "docs/a.md"],
      ["out.md", "../shop/a.md"],
      ["passwd.md", "/etc/passwd"],
    ] as const)
      symlinkSync(target, join(workspace, "tools", name));
    expect(await load("tools:in.md")).toMatchObject({ body: "Text.", id: "acme/tools:docs/a.md" });
    for (const place of ["out.md", "passwd.md", "../shop/a.md", "docs/../../shop/a.md"])
      await expect(load(`tools:${place}`)).rejects.toMatchObject({
        name: "SetupError",
        message: `skill tools:${place}: acme/tools has no such skill; skills there: none`,
      });
  });

  it("takes the first directory for skills that has it, before a directory of the repository", async () => {
    const bodies = [".warp", ".claude", ".agents"].map((folder) => {
      write(`${folder}/skills/fix/SKILL.md`, folder);
      return folder;
    });
    write("fix/SKILL.md", "plain");
    expect(await load("tools:fix")).toMatchObject({ body: ".agents" });
    for (const folder of bodies) rmSync(join(workspace, "tools", folder), { recursive: true });
    expect(await load("tools:fix")).toMatchObject({ body: "plain", id: "acme/tools:fix/SKILL.md" });
    mkdirSync(join(workspace, "tools", "dir.md"));
    await expect(load("tools:dir.md")).rejects.toThrow("acme/tools has no such skill; skills there: none");
  });

  it("names up to twenty available skills and repositories", async () => {
    const names = Array.from({ length: 22 }, (_, index) => `s${String(index).padStart(2, "0")}`);
    for (const name of names) write(`.agents/skills/${name}/SKILL.md`, "a");
    write(".claude/skills/s01/SKILL.md", "a");
    const shown = names.slice(0, 20).join(", ");
    await expect(load("tools:none")).rejects.toMatchObject({
      message: `skill tools:none: acme/tools has no such skill; skills there: ${shown}`,
    });
    await expect(load("none:a")).rejects.toMatchObject({
      message: "skill none:a: this repository was not cloned; cloned: acme/tools, acme/shop",
    });
  });

  it("accepts 256 KiB and no more", async () => {
    write("a.md", "x".repeat(256 * 1024));
    expect((await load("tools:a.md")).body).toHaveLength(256 * 1024);
    write("a.md", "x".repeat(256 * 1024 + 1));
    await expect(load("tools:a.md")).rejects.toThrow("skill acme/tools:a.md: is larger than 262144 bytes");
  });

  it("uses no clone that was replaced or removed", async () => {
    const gone = "skill tools:a.md: acme/tools is no longer in the workspace";
    write("a.md", "a");
    write("a.md", "b", { ...CLONE, path: "../skills-elsewhere" });
    const elsewhere = join(dirname(workspace), "skills-elsewhere");
    try {
      rmSync(join(workspace, "tools"), { recursive: true });
      await expect(load("tools:a.md")).rejects.toThrow(gone);
      symlinkSync(elsewhere, join(workspace, "tools"));
      await expect(load("tools:a.md")).rejects.toThrow(gone);
      expect(await listSkills([CLONE], workspace)).toEqual({ skills: [], unusable: [] });
      rmSync(join(workspace, "tools"));
      symlinkSync(workspace, join(workspace, "tools"));
      await expect(load("tools:a.md")).rejects.toThrow(gone);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});

describe("listSkills", () => {
  it("lists the skills of all clones in one line each, in order, with shortened names and descriptions", async () => {
    write(".claude/skills/b/SKILL.md", skillOf(`${"n".repeat(127)}é`, `${"d".repeat(600)}`));
    write(".agents/skills/c/SKILL.md", skillOf(" a\n\t b ", " one\n  two\0 "));
    write(".agents/skills/a/SKILL.md", "No front matter.");
    write(".agents/skills/a/more/SKILL.md", "Too deep.");
    write("elsewhere/SKILL.md", "Elsewhere.");
    write(".warp/skills/s/SKILL.md", skillOf("shop", "sells"), OTHER);
    write("skills/top/SKILL.md", skillOf("top", "at the root"), OTHER);
    const { skills, unusable } = await listSkills([CLONE, OTHER], workspace);
    expect(skills).toEqual([
      { id: "acme/tools:.agents/skills/a/SKILL.md", name: "a", description: "" },
      { id: "acme/tools:.agents/skills/c/SKILL.md", name: "a b", description: "one two\ufffd" },
      { id: "acme/tools:.claude/skills/b/SKILL.md", name: "n".repeat(127), description: "d".repeat(500) },
      { id: "acme/shop:.warp/skills/s/SKILL.md", name: "shop", description: "sells" },
      { id: "acme/shop:skills/top/SKILL.md", name: "top", description: "at the root" },
    ]);
    expect(unusable).toEqual([]);
  });

  it("says why a skill cannot be used, and uses one whose front matter is malformed", async () => {
    const path = (name: string) => `.agents/skills/${name}/SKILL.md`;
    write(path("most"), "x".repeat(262_144));
    write(path("more"), "x".repeat(262_145));
    write(path("empty"), "");
    write(path("broken"), "---\nname: [\n---\nDo it.");
    write(path("colon"), "---\nname: colon\ndescription: Ready: errors\n---\nDo it.");
    mkdirSync(join(workspace, "tools", ".agents/skills/no-skill"));
    write(path("folder/SKILL.md/a"), "");
    write(path("link"), "");
    rmSync(join(workspace, "tools", path("link")));
    symlinkSync("/etc/passwd", join(workspace, "tools", path("link")));
    const { skills, unusable } = await listSkills([CLONE, { ...OTHER, path: "none" }], workspace);
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ["broken", ""],
      ["colon", "Ready: errors"],
      ["most", ""],
    ]);
    expect(unusable.toSorted()).toEqual([
      `skill acme/tools:${path("empty")}: has no instructions`,
      `skill acme/tools:${path("folder")}: acme/tools has no such skill`,
      `skill acme/tools:${path("link")}: acme/tools has no such skill`,
      `skill acme/tools:${path("more")}: is larger than 262144 bytes`,
    ]);
  });

  it("lists 200 skills", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    for (const clone of [CLONE, OTHER]) for (const name of names) write(`.agents/skills/${name}/SKILL.md`, "a", clone);
    const { skills: found } = await listSkills([CLONE, OTHER], workspace);
    expect([found.length, found.at(-1)?.id]).toEqual([200, "acme/shop:.agents/skills/s079/SKILL.md"]);
    for (const name of names) write(`.claude/skills/${name}/SKILL.md`, "a");
    expect((await listSkills([CLONE], workspace)).skills).toHaveLength(200);
  });
});

describe("readSkill", () => {
  it("returns the text after the front matter", async () => {
    write(".agents/skills/a/SKILL.md", skillOf("a", "b", "The body.\n"));
    expect(await readSkill("acme/tools:.agents/skills/a/SKILL.md", [CLONE], workspace)).toBe("The body.\n");
  });
});
