import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { SIGNING_KEY_FILE, signingKeyFile } from "#server/secrets/signing-key-file.ts";
import { useDataDirectory } from "./support/data-directory.ts";

const data = useDataDirectory();

function makeRing() {
  const directory = data.directory();
  const file = path.join(directory, SIGNING_KEY_FILE);
  return { directory, file, ring: signingKeyFile(file) };
}

describe("the keys that sign identity tokens, in a file", () => {
  it("are created once and replaced, and only the owner can read them", async () => {
    const { directory, file, ring } = makeRing();
    expect(await ring.read()).toBeUndefined();
    expect(await ring.create("first")).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await ring.create("second")).toBe(false);
    expect(await ring.read()).toBe("first");
    await ring.replace("third");
    expect(await ring.read()).toBe("third");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual([SIGNING_KEY_FILE]);
  });

  it("are refused if other users can read them", async () => {
    const { file, ring } = makeRing();
    await ring.create("first");
    chmodSync(file, 0o640);
    await expect(ring.read()).rejects.toThrow(`chmod 600 '${file}'`);
  });

  it("are not read through a link, and a link is not written through", async () => {
    const { directory, file, ring } = makeRing();
    const elsewhere = path.join(directory, "elsewhere");
    writeFileSync(elsewhere, "other", { mode: 0o600 });
    symlinkSync(elsewhere, file);
    await expect(ring.read()).rejects.toThrow();
    expect(await ring.create("first")).toBe(false);
    await ring.replace("second");
    expect(await ring.read()).toBe("second");
    expect(readFileSync(elsewhere, "utf8")).toBe("other");
  });
});
