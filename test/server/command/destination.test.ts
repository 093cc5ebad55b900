import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSource, throwIfNotEmpty, writeDestination } from "#server/transfer/destination.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), "runyard-test-"));
});
afterEach(() => rmSync(place, { recursive: true }));

const at = (name: string) => path.join(place, name);
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
async function fill(directory: string): Promise<string> {
  writeFileSync(path.join(directory, "a"), "content");
  return "filled";
}
const readA = async (directory: string) => readFileSync(path.join(directory, "a"), "utf8");

describe("writeDestination", () => {
  it("creates a directory for its owner alone, once it is filled", async () => {
    const seen: string[][] = [];
    const write = async (directory: string) => {
      seen.push(readdirSync(place));
      return await fill(directory);
    };
    expect(await writeDestination(at("backup"), write)).toBe("filled");
    expect([seen, readdirSync(place), modeOf(at("backup"))]).toEqual([[["backup.partial"]], ["backup"], "700"]);
    expect(await readSource(at("backup"), readA)).toBe("content");
  });

  it.each([
    ["data.tar", false],
    ["data.tar.gz", true],
    ["data.tgz", true],
  ])("packs %s for its owner alone", async (name, isCompressed) => {
    await writeDestination(at(name), fill);
    expect([readdirSync(place), modeOf(at(name))]).toEqual([[name], "600"]);
    expect(
      readFileSync(at(name))
        .subarray(0, 2)
        .equals(Buffer.from([0x1f, 0x8b])),
    ).toBe(isCompressed);
    expect(await readSource(at(name), readA)).toBe("content");
  });

  it("creates a directory where the ending is in the middle of the name", async () => {
    await writeDestination(at("data.tar.old"), fill);
    expect(statSync(at("data.tar.old")).isDirectory()).toBe(true);
  });

  it("refuses an existing name, and does not change its content", async () => {
    writeFileSync(at("taken"), "before");
    await expect(writeDestination(at("taken"), fill)).rejects.toThrow(`${at("taken")} exists already.`);
    expect([readFileSync(at("taken"), "utf8"), readdirSync(place)]).toEqual(["before", ["taken"]]);
  });

  it("refuses to continue another attempt, and leaves what it wrote", async () => {
    mkdirSync(at("data.partial"));
    const error = `${at("data")}.partial is left over from another attempt: remove it first.`;
    await expect(writeDestination(at("data"), fill)).rejects.toThrow(error);
    expect(readdirSync(place)).toEqual(["data.partial"]);
  });

  it("reports a directory that cannot be created", async () => {
    const error = `${at("absent/data")}.partial cannot be created: ENOENT`;
    await expect(writeDestination(at("absent/data"), fill)).rejects.toThrow(error);
  });

  it.each(["data", "data.tar"])("leaves nothing of a failed attempt at %s", async (name) => {
    const fail = async (directory: string) => {
      await fill(directory);
      throw new Error("no more");
    };
    await expect(writeDestination(at(name), fail)).rejects.toThrow("no more");
    expect(readdirSync(place)).toEqual([]);
  });
});

describe("readSource", () => {
  it("refuses a source that is missing, or neither a directory nor an archive", async () => {
    writeFileSync(at("file.txt"), "text");
    mkdirSync(at("folder.tar"));
    await expect(readSource(at("file.txt"), readA)).rejects.toThrow("is neither a directory nor a tar archive.");
    await expect(readSource(at("absent.tar"), readA)).rejects.toThrow("does not exist, or cannot be read.");
    writeFileSync(at("folder.tar/a"), "inside");
    expect(await readSource(at("folder.tar"), readA)).toBe("inside");
  });

  it("reports an archive that is damaged, by its own name", async () => {
    writeFileSync(at("bad.tar"), "no archive");
    await expect(readSource(at("bad.tar"), readA)).rejects.toThrow(`tar -xf ${at("bad.tar")} failed.`);
  });

  it("removes what it unpacked, also after an error", async () => {
    await writeDestination(at("data.tar"), fill);
    let scratch = "";
    const read = async (directory: string) => {
      scratch = directory;
      throw new Error(`broken: ${directory}`);
    };
    await expect(readSource(at("data.tar"), read)).rejects.toThrow("broken");
    expect([scratch === "", existsSync(scratch)]).toEqual([false, false]);
  });
});

describe("throwIfNotEmpty", () => {
  it("accepts an empty directory and an absent one, and refuses others with the remedy", async () => {
    await throwIfNotEmpty(place, "Choose another.");
    await throwIfNotEmpty(at("absent"), "Choose another.");
    writeFileSync(at("a"), "");
    await expect(throwIfNotEmpty(place, "Choose another.")).rejects.toMatchObject({
      message: `${place} is not empty: it contains a.`,
      details: ["Choose another."],
    });
    await expect(throwIfNotEmpty(at("a"), "Choose another.")).rejects.toThrow("ENOTDIR");
  });
});
