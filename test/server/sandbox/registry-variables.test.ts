import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createRegistryVariables } from "../../../server/sandbox/registry-variables.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();

describe("the registries that a harness gets", () => {
  const program = { file: "main.ts", environment: { RUNYARD_IMAGES: "/images" } };
  const create = (environment: NodeJS.ProcessEnv = {}) => {
    const directory = data.directory();
    const write = (value: unknown) =>
      writeFileSync(join(directory, "runyard.json"), typeof value === "string" ? value : JSON.stringify(value));
    const add = createRegistryVariables(directory, environment);
    const read = () => add(program).environment;
    return { directory, write, read, add };
  };

  it("are none without a file, and without registries in it", () => {
    const { write, read } = create();
    expect(read()).toEqual(program.environment);
    write({ providers: [] });
    expect(read()).toEqual(program.environment);
  });

  it("have their passwords, which are read again for each harness", () => {
    const { directory, write, read } = create({ GHCR_TOKEN: "first" });
    const username = "acme";
    write({
      registries: [
        { host: "ghcr.io", username, password: { env: "GHCR_TOKEN" } },
        { host: "a.example", username, password: { file: "a.txt" } },
      ],
    });
    const parse = () => JSON.parse(read()?.["RUNYARD_REGISTRIES"] ?? "[]");
    expect(parse()).toEqual([
      { host: "ghcr.io", username, password: "first" },
      { host: "a.example", username },
    ]);
    writeFileSync(join(directory, "a.txt"), "second\n");
    expect(parse()).toContainEqual({ host: "a.example", username, password: "second" });
  });

  it("are none where the harness keeps no images: its commands may see its variables", () => {
    const { write, add } = create();
    write({ registries: [{ host: "ghcr.io", username: "acme", password: "s3cret" }] });
    const plain = { file: "main.ts", environment: { A: "b" } };
    expect(add(plain)).toEqual(plain);
  });

  it("are those from before while the file is not valid", () => {
    using _ = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const { write, read } = create();
    write({ registries: [{ host: "ghcr.io" }] });
    const before = read();
    write("{");
    expect(read()).toEqual(before);
  });
});
