import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  INSTRUCTIONS_BYTES,
  listFolders,
  readInstructions,
  toWorkspacePath,
} from "#harness/instructions/instruction-files.ts";

let workspace = "";
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "instructions-"));
});
afterEach(() => rmSync(workspace, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(workspace, dirname(path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
}

describe("readInstructions", () => {
  it("reads the first file of each folder that has text", async () => {
    write({
      "a/CLAUDE.md": "claude",
      "a/AGENTS.md": "agents",
      "b/AGENTS.md": " \n",
      "b/GEMINI.md": "gemini",
      "c/.github/copilot-instructions.md": "copilot",
      "d/README.md": "none",
    });
    expect(await readInstructions(workspace, ["a", "b", "c", "d", "missing"])).toEqual([
      { path: "a/AGENTS.md", content: "agents" },
      { path: "b/GEMINI.md", content: "gemini" },
      { path: "c/.github/copilot-instructions.md", content: "copilot" },
    ]);
  });

  it("follows no link, and reads nothing outside the workspace", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "AGENTS.md"), "secret");
    write({ "a/CLAUDE.md": "claude" });
    symlinkSync(join(outside, "AGENTS.md"), join(workspace, "a", "AGENTS.md"));
    symlinkSync(outside, join(workspace, "b"));
    expect(await readInstructions(workspace, ["a", "b"])).toEqual([{ path: "a/CLAUDE.md", content: "claude" }]);
    rmSync(outside, { recursive: true });
  });

  it("truncates them to 32 KB together, at a whole character", async () => {
    expect(INSTRUCTIONS_BYTES).toBe(32_768);
    write({ "a/AGENTS.md": "x".repeat(INSTRUCTIONS_BYTES - 4), "b/AGENTS.md": "äöü", "c/AGENTS.md": "left out" });
    const files = await readInstructions(workspace, ["a", "b", "c"]);
    expect(files.map(({ path }) => path)).toEqual(["a/AGENTS.md", "b/AGENTS.md"]);
    expect(files[1]?.content).toMatch(/^äö\n\[\.\.\. truncated: /);
  });
});

describe("listFolders", () => {
  it("lists the folders from the root of the repository to the path", () => {
    const clones = [{ path: "shop" }, { path: "libs/ui" }];
    expect(listFolders("shop/src/cart", clones)).toEqual(["shop", "shop/src", "shop/src/cart"]);
    expect(listFolders("libs/ui", clones)).toEqual(["libs/ui"]);
    expect(listFolders("shopping/src", clones)).toEqual([]);
  });
});

describe("toWorkspacePath", () => {
  it("returns undefined for the workspace itself and for what is outside", () => {
    const paths = ["/workspace/shop/a.ts", "/workspace", "/workspaces/b", "/etc/passwd"];
    expect(paths.map((path) => toWorkspacePath(path, "/workspace"))).toEqual([
      "shop/a.ts",
      undefined,
      undefined,
      undefined,
    ]);
  });
});
