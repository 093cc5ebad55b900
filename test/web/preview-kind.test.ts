import { describe, expect, it } from "vitest";
import { formatJson, parseRows, previewKind } from "../../web/run/artifacts/preview-kind.ts";
import { toChildSpans } from "../../web/run/children/child-spans.ts";

describe("previewKind", () => {
  it.each([
    ["cart.png", "image/png", "image"],
    ["report.pdf", "application/octet-stream", "pdf"],
    ["prices.csv", "text/plain", "csv"],
    ["data.bin", "application/json; charset=utf-8", "json"],
    ["README.md", "text/plain", "markdown"],
    ["page.html", "text/html", "text"],
    ["logo.svg", "image/svg+xml", undefined],
    ["data.zip", "application/zip", undefined],
  ])("of %s with the type %s is %s", (filename, mime_type, kind) => {
    expect(previewKind({ filename, mime_type })).toBe(kind);
  });

  it("is absent for large files, and larger pictures than texts are shown", () => {
    const size_bytes = 5 * 1024 * 1024;
    expect(previewKind({ filename: "a.csv", mime_type: "text/csv", size_bytes })).toBeUndefined();
    expect(previewKind({ filename: "a.png", mime_type: "image/png", size_bytes })).toBe("image");
  });
});

describe("parseRows", () => {
  it("reads quoted values with separators, quotation marks and line breaks", () => {
    expect(parseRows('a,b\r\n"x, ""y""","1\n2"\n,\n', 10)).toEqual([
      ["a", "b"],
      ['x, "y"', "1\n2"],
      ["", ""],
    ]);
  });

  it("reads tab-separated values, and no more rows than the limit", () => {
    expect(parseRows("a\tb\nc\td\ne\tf", 2)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });
});

describe("formatJson", () => {
  it("indents JSON, and leaves other text as it is", () => {
    expect(formatJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(formatJson("{a")).toBe("{a");
  });
});

describe("toChildSpans", () => {
  it("puts all runs of a tree on one axis; those that go on end now", () => {
    const at = (seconds: number) => new Date(Date.UTC(2026, 4, 18) + seconds * 1000).toISOString();
    const base = { root_run_id: "r", title: "", prompt: "", updated_at: at(0), created_at: at(0) };
    const runs = [
      { ...base, run_id: "r", task_id: "r", state: "INPROGRESS" as const, started_at: at(0), finished_at: null },
      { ...base, run_id: "c", task_id: "c", state: "SUCCEEDED" as const, started_at: at(2), finished_at: at(7) },
    ];
    const spans = toChildSpans(runs, Date.parse(at(10)));
    expect(spans.get("r")).toEqual({ left: 0, width: 100 });
    expect(spans.get("c")).toEqual({ left: 20, width: 50 });
  });
});
