import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { SIGNING_KEY_FILE, signingKeyFile } from "#server/secrets/signing-key-file.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();

function makeKeySet() {
  const directory = data.directory();
  const file = path.join(directory, SIGNING_KEY_FILE);
  return { directory, file, keySet: signingKeyFile(file) };
}

describe("the keys that sign identity tokens, in a file", () => {
  it("are created once and replaced, and only the owner can read them", async () => {
    const { directory, file, keySet } = makeKeySet();
    expect(await keySet.read()).toBeUndefined();
    expect(await keySet.create("first")).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await keySet.create("second")).toBe(false);
    expect(await keySet.read()).toBe("first");
    await keySet.replace("third");
    expect(await keySet.read()).toBe("third");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual([SIGNING_KEY_FILE]);
  });

  it("are refused if other users can read them", async () => {
    const { file, keySet } = makeKeySet();
    await keySet.create("first");
    chmodSync(file, 0o640);
    await expect(keySet.read()).rejects.toThrow(`chmod 600 '${file}'`);
  });

  it("are not read through a link, and a link is not written through", async () => {
    const { directory, file, keySet } = makeKeySet();
    const elsewhere = path.join(directory, "elsewhere");
    writeFileSync(elsewhere, "other", { mode: 0o600 });
    symlinkSync(elsewhere, file);
    await expect(keySet.read()).rejects.toThrow();
    expect(await keySet.create("first")).toBe(false);
    await keySet.replace("second");
    expect(await keySet.read()).toBe("second");
    expect(readFileSync(elsewhere, "utf8")).toBe("other");
  });
});
