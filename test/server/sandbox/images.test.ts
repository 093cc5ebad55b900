import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkImages } from "../../../server/doctor/check-data.ts";
import {
  expireImages,
  findImageProblem,
  findMissingImageTools,
  listImages,
  readImageLimits,
  removeImage,
} from "../../../server/sandbox/images.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();

const HOUR_MS = 3_600_000;
const NOW = Date.now();

describe("a machine whose runs may have images", () => {
  it("lacks nothing where bubblewrap isolates commands and all programs are there", () => {
    expect(findImageProblem({ isolation: "bubblewrap" }, undefined, [])).toBeUndefined();
    expect(findImageProblem({ isolation: "bubblewrap-unfiltered" }, "oz", [])).toBeUndefined();
  });

  it("names the packages to install", () => {
    const problem = findImageProblem({ isolation: "bubblewrap" }, undefined, ["skopeo", "umoci"]);
    expect(problem).toContain("install skopeo, umoci (sudo apt-get install skopeo umoci), or clear it");
    const folder = data.directory();
    for (const name of ["skopeo", "bwrap"]) symlinkSync("/bin/true", join(folder, name));
    expect(findMissingImageTools(folder)).toEqual(expect.arrayContaining(["umoci"]));
    expect(findMissingImageTools(folder)).not.toContain("skopeo");
  });

  it("does not execute them without bubblewrap, and not with a harness that needs the programs of the host", () => {
    expect(findImageProblem({ isolation: "none" }, undefined, [])).toContain("needs bubblewrap");
    for (const harness of ["claude", "codex", "gemini", "acp"])
      expect(findImageProblem({ isolation: "bubblewrap" }, harness, [])).toContain(`the harness ${harness}`);
  });
});

/** A directory with images of 1 GiB each, by the hours since their last use. */
function createImages(...hours: readonly number[]): { directory: string; digests: string[] } {
  const directory = join(data.directory(), "images");
  mkdirSync(directory);
  const digests = hours.map((age, index) => {
    const name = `sha256-${String(index).padStart(64, "0")}`;
    const digest = name.replace("-", ":");
    mkdirSync(join(directory, name));
    const record = { digest, bytes: 1024 ** 3, pulled_at: "2026-01-01T00:00:00.000Z" };
    writeFileSync(join(directory, name, "image.json"), JSON.stringify(record));
    writeFileSync(join(directory, `${name}.used`), "");
    const seconds = (NOW - age * HOUR_MS) / 1000;
    utimesSync(join(directory, `${name}.used`), seconds, seconds);
    return digest;
  });
  return { directory, digests };
}

describe("the images of a machine", () => {
  it("are removed when unused for two weeks, and the least recently used ones above the limit", async () => {
    const { directory, digests } = createImages(2, 400, 3, 5);
    expect(await expireImages(directory, NOW, { bytes: 2 * 1024 ** 3 })).toBe(2);
    expect((await listImages(directory)).map(({ digest }) => digest)).toEqual([digests[0], digests[2]]);
    expect(readdirSync(directory).filter((name) => name.startsWith("new-"))).toEqual([]);
  });

  it("stay while an execution uses them", async () => {
    const { directory } = createImages(0.1, 0.2);
    expect(await expireImages(directory, NOW, { bytes: 1 })).toBe(0);
  });

  it("stay if an execution has used them since they were listed", async () => {
    const { directory } = createImages(400, 401);
    const [used, unused] = await listImages(directory);
    if (used === undefined || unused === undefined) throw new Error("two images were created");
    writeFileSync(join(directory, `${used.name}.used`), "");
    expect([await removeImage(directory, used), await removeImage(directory, unused)]).toEqual([false, true]);
    expect(readdirSync(directory).toSorted()).toEqual([used.name, `${used.name}.used`]);
    expect(readdirSync(join(directory, used.name))).toEqual(["image.json"]);
  });

  it("leave no marker of an image that was never pulled", async () => {
    const { directory } = createImages();
    const marker = join(directory, `sha256-${"0".repeat(64)}.used`);
    writeFileSync(marker, "");
    utimesSync(marker, 0, 0);
    await expireImages(directory, NOW);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("leave no broken pull behind", async () => {
    const { directory } = createImages();
    const broken = join(directory, "new-broken");
    mkdirSync(join(broken, "work"), { recursive: true });
    utimesSync(broken, (NOW - 2 * HOUR_MS) / 1000, (NOW - 2 * HOUR_MS) / 1000);
    mkdirSync(join(directory, "new-pull"));
    await expireImages(directory, NOW);
    expect(readdirSync(directory)).toEqual(["new-pull"]);
    expect(await expireImages(join(directory, "absent"), NOW)).toBe(0);
  });

  it("are counted by the doctor, which names missing programs", async () => {
    const { directory } = createImages(1, 2);
    const check = await checkImages(join(directory, ".."), "/nowhere");
    expect(check).toMatchObject({
      name: "images",
      status: "ok",
      detail: expect.stringMatching(/^2 of environments, 2\.0 GiB; for a docker_image, .*apt-get install skopeo umoci/),
    });
  });

  it("have a limit that is a number", () => {
    expect(readImageLimits({})).toEqual({});
    expect(readImageLimits({ RUNYARD_IMAGES_MIB: "5" })).toEqual({ bytes: 5 * 1024 ** 2 });
    expect(() => readImageLimits({ RUNYARD_IMAGES_MIB: "5GB" })).toThrow("RUNYARD_IMAGES_MIB must be a whole number");
  });
});
