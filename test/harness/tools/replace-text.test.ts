import { describe, expect, it } from "vitest";
import { replaceText } from "#harness/replace-text.ts";

const replace = (whole: string, old_text: string, new_text: string) => replaceText(whole, { old_text, new_text }, "");

describe("replaceText", () => {
  it("writes new lines with the tabs of a file whose lines the model repeated with spaces", () => {
    const whole = "class A:\n\tdef f(self):\n\t\tif self.a:\n\t\t\treturn 1\n\t\treturn 2\n";
    const old = "    def f(self):\n        if self.a:\n            return 1\n        return 2";
    const text = "    def f(self):\n        if self.a:\n            self.b = 3\n            return 1\n        return 4";
    expect(replace(whole, old, text)).toEqual({
      text: "class A:\n\tdef f(self):\n\t\tif self.a:\n\t\t\tself.b = 3\n\t\t\treturn 1\n\t\treturn 4\n",
      tolerance: "indentation",
    });
  });

  it("indents levels that the old text does not have like the file", () => {
    const found = replace("\ta:\n\t\tb\n", "  a:\n    b\n", "  a:\n    c:\n      d\n");
    expect(found.text).toBe("\ta:\n\t\tc:\n\t\t\td\n");
    expect(replace("  a:\n    b\n", "    a:\n        b\n", "    a:\n        c:\n            d\n").text).toBe(
      "  a:\n    c:\n      d\n",
    );
    expect(replace("    one\n", "\tone\n", "\tone:\n\t\ttwo\n").text).toBe("    one:\n        two\n");
    expect(replace("        one\n", "    one\n", "    one:\n      two\nthree\n").text).toBe(
      "        one:\n          two\nthree\n",
    );
  });

  it("leaves lines as they are in the file that only a tolerance makes equal and that do not change", () => {
    const whole = "\u201cOne\u201d \u2014 two\nthree\n\u2018four\u2019\n";
    const found = replace(whole, "\"One\" - two\nthree\n'four'", "\"One\" - two\nTHREE\n'four'");
    expect(found).toEqual({
      text: "\u201cOne\u201d \u2014 two\nTHREE\n\u2018four\u2019\n",
      tolerance: "quotes, dashes and white space",
    });
  });

  it("keeps a blank line at the end of the old text, which has no line break there", () => {
    expect(replace("a\n\nc\n", "a\n  ", "b\n  ")).toEqual({
      text: "b\n\nc\n",
      tolerance: "white space at line ends",
    });
  });

  it("finds text that the model repeated with the line numbers of a result", () => {
    expect(replace("one\ntwo\nthree\n", "2\ttwo\n3\tthree\n", "2\tTWO\n3\tthree\n")).toEqual({
      text: "one\nTWO\nthree\n",
      tolerance: "line numbers",
    });
    expect(replace("\tone\n", "1\t    one", "1\t    two")).toEqual({
      text: "\ttwo\n",
      tolerance: "line numbers, indentation",
    });
    expect(replace("1\ta\n2\tb\n", "2\tb", "2\tc"), "which a file may have").toEqual({ text: "1\ta\n2\tc\n" });
  });

  it("finds text that the model escaped as in JSON", () => {
    expect(replace('say "a"\nb\n', 'say \\"a\\"\\nb', 'say \\"c\\"\\nb')).toEqual({
      text: 'say "c"\nb\n',
      tolerance: "escapes",
    });
    const code = 'print("a\\n")\n';
    expect(replace(code, 'print("a\\n")', 'print("b\\n")'), "which a file may have").toEqual({
      text: 'print("b\\n")\n',
    });
  });

  it("keeps the line breaks of a file that has CRLF alone", () => {
    expect(replace("a\r\nb\r\n", "b", "c\nd").text).toBe("a\r\nc\r\nd\r\n");
    expect(replace("a\r\nb\n", "b", "c\nd").text).toBe("a\r\nc\nd\n");
    expect(replace("a\r\n    b\r\n", "\tb", "\tc\n\td"), "where the place has no line break").toEqual({
      text: "a\r\n    c\r\n    d\r\n",
      tolerance: "indentation",
    });
  });

  it("refuses an edit that would change nothing, and an old text that is only white space or additions", () => {
    expect(() => replace("a\n", "a", "a")).toThrow("old_text and new_text are the same");
    expect(() => replace("a\nb\n", " ", "x")).toThrow("was not found");
    expect(() => replace("a\nb\n", "7\t", "x")).toThrow("was not found");
  });
});
