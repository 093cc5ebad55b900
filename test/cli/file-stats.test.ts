import { describe, expect, it } from "vitest";
import { parseFileStats } from "../../cli/src/changes/changes.ts";

describe("parseFileStats", () => {
  const patchOf = (...lines: string[]) => `${lines.join("\n")}\n`;
  it.each([
    ["a changed file", ["--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " x", "-y", "+z", "+"], "a.txt", 2, 1, false],
    [
      "a line that looks like a header",
      ["--- a/a.txt", "+++ b/a.txt", "@@ -1 +1 @@", "--- a", "+++ b"],
      "a.txt",
      1,
      1,
      false,
    ],
    ["a new file", ["--- /dev/null", "+++ b/a.txt", "@@ -0,0 +1 @@", "+z"], "a.txt", 1, 0, false],
    ["a deleted file", ["--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-z"], "a.txt", 0, 1, false],
    ["a renamed file", ["similarity index 100%", "rename from a.txt", "rename to b.txt"], "b.txt", 0, 0, false],
    ["a binary patch", ["index 1..2", "GIT binary patch", "literal 3", "+abc"], "b.txt", 0, 0, true],
    ["a binary file without a patch", ["Binary files a/a.txt and b/b.txt differ"], "b.txt", 0, 0, true],
  ] as const)("counts the lines of %s", (_, lines, name, insertions, deletions, isBinary) => {
    const file = patchOf("diff --git a/a.txt b/b.txt", ...lines);
    const stat = { name, insertions, deletions, isBinary };
    expect(parseFileStats(`${file}${file}`)).toEqual([stat, stat]);
  });
});
