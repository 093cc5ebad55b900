import { execFile } from "node:child_process";
import path from "node:path";
import { describe, expect, test } from "vitest";

const program = path.resolve(import.meta.dirname, "../../operate/bootstrap.ts");

/** Runs the program with nothing in its environment that could lead to an account. */
function run(...args: string[]): Promise<{ code: number; output: string; complaint: string }> {
  const env = { HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true", RUNYARD_STATE: "/nowhere" };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (error, output, complaint) =>
      resolve({ code: error === null ? 0 : Number(error.code), output, complaint }),
    );
  });
}

describe("npm run aws -- bootstrap", () => {
  test("prints its help", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, output: expect.stringContaining("--email ADDRESS") });
  });

  test.each([
    [[], "--email takes the address"],
    [["--email", "nobody"], "--email takes the address"],
    [["--mail", "a@b.example"], "Unknown option '--mail'"],
    [["--email", "a@b.example"], "There are no AWS credentials or no region"],
    [["--local"], "run npm run emulator first"],
  ])("%j is rejected with the remedy", async (args, complaint) => {
    const ended = await run(...args);
    expect(ended).toMatchObject({ code: 1, output: "" });
    expect(ended.complaint).toContain(complaint);
  });
});
