import { describe, expect, it } from "vitest";
import { countSkipped, type DiffLine, foldContext, parseDiff, toPatch } from "../../web/run/changes/diff.ts";
import { toFileTree } from "../../web/run/changes/file-tree.ts";
import { type ReviewComment, toReviewMessage } from "../../web/run/changes/review-draft.ts";

const PATCH = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3,3 +3,4 @@ function a() {
 three
-four
+FOUR
+more
 five
@@ -20,2 +21,2 @@
 twenty
-old
+new
diff --git a/gone.md b/gone.md
--- a/gone.md
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

describe("parseDiff", () => {
  it("numbers the lines before and after the change, in each hunk", () => {
    const [file] = parseDiff(PATCH);
    expect(file?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ["gap", undefined, undefined],
      ["same", 3, 3],
      ["remove", 4, undefined],
      ["add", undefined, 4],
      ["add", undefined, 5],
      ["same", 5, 6],
      ["gap", undefined, undefined],
      ["same", 20, 21],
      ["remove", 21, undefined],
      ["add", undefined, 22],
    ]);
  });

  it("counts the lines that are left out before each hunk", () => {
    const [file] = parseDiff(PATCH);
    expect([0, 6].map((place) => countSkipped(file?.lines ?? [], place))).toEqual([2, 14]);
  });

  it("gives each file back as a patch that can be applied", () => {
    const [changed, deleted] = parseDiff(PATCH);
    if (changed === undefined || deleted === undefined) throw new Error("the patch has two files");
    expect(toPatch(changed)).toBe(PATCH.slice(PATCH.indexOf("--- a/src"), PATCH.indexOf("diff --git a/gone")));
    expect(toPatch(deleted)).toBe(PATCH.slice(PATCH.indexOf("--- a/gone")));
  });
});

describe("foldContext", () => {
  const same = (count: number): DiffLine[] => Array.from({ length: count }, () => ({ kind: "same", text: "" }));
  const add: DiffLine = { kind: "add", text: "" };
  const folds = (lines: readonly DiffLine[], open: readonly number[] = []) =>
    foldContext(lines, new Set(open)).filter((part) => "from" in part);

  it("folds unchanged lines between changes, and leaves three next to each", () => {
    expect(folds([add, ...same(20), add])).toEqual([{ from: 4, to: 18 }]);
    expect(folds([add, ...same(8), add])).toEqual([]);
  });

  it("folds lines before the first and after the last change", () => {
    expect(folds([...same(20), add, ...same(20)])).toEqual([
      { from: 0, to: 17 },
      { from: 24, to: 41 },
    ]);
  });

  it("shows all lines of a fold that has been opened", () => {
    expect(foldContext([add, ...same(20), add], new Set([4]))).toHaveLength(22);
  });
});

describe("toFileTree", () => {
  it("puts directories first, and joins those that contain only each other", () => {
    expect(toFileTree(["b.ts", "packages/cart/src/a.ts", "packages/cart/src/z/c.ts", "docs/x.md"])).toEqual([
      { name: "docs", children: [{ name: "x.md", file: 3, children: [] }] },
      {
        name: "packages/cart/src",
        children: [
          { name: "z", children: [{ name: "c.ts", file: 2, children: [] }] },
          { name: "a.ts", file: 1, children: [] },
        ],
      },
      { name: "b.ts", file: 0, children: [] },
    ]);
  });
});

describe("toReviewMessage", () => {
  const comment = (members: Partial<ReviewComment>): ReviewComment => ({
    repository: "shop",
    path: "src/a.ts",
    line: 4,
    isRemoved: false,
    code: "  FOUR",
    text: "Why?",
    ...members,
  });

  it("has all comments in the order of the files, each with its line", () => {
    const message = toReviewMessage([
      comment({ path: "src/b.ts", line: 9, isRemoved: true, code: "a `quoted` word", text: "Keep\nthis." }),
      comment({}),
    ]);
    expect(message).toBe(
      [
        "Comments on your changes:",
        "1. `shop/src/a.ts`, line 4:",
        "   ` FOUR `",
        "   Why?",
        "2. `shop/src/b.ts`, line 9 before the change:",
        "   `` a `quoted` word ``",
        "   Keep\n   this.",
      ].join("\n\n"),
    );
  });

  it("quotes what the agent wrote as one line of code, so that it is no text or command of the person", () => {
    const message = toReviewMessage([
      comment({ path: "`a`\n\n```sh\nid\n```", code: "x\r```sh\rid\r```", text: "Why?" }),
    ]);
    expect(message).toBe(
      [
        "Comments on your changes:",
        "1. ```` shop/`a` ```sh id ``` ````, line 4:",
        "   ```` x ```sh id ``` ````",
        "   Why?",
      ].join("\n\n"),
    );
  });
});
