import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

describe("the files of the single machine", () => {
  it("load no AWS client, directly or indirectly", () => {
    const files = globSync("server/**/*.ts", { cwd: root });
    const program = `
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({
        resolve(specifier, context, next) {
          const resolved = next(specifier, context);
          if (/@aws-sdk|@smithy|shared\\/aws/.test(resolved.url)) loaded.push(resolved.url);
          return resolved;
        },
      });
      for (const file of ${JSON.stringify(files)}) await import(${JSON.stringify(`file://${root}/`)} + file);
      process.stdout.write(JSON.stringify(loaded));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { env: {}, cwd: root });
    expect(files.length).toBeGreaterThan(20);
    expect(JSON.parse(output.toString())).toEqual([]);
  });
});
