import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFiles } from "../planted/planted.ts";

const CODE = ["shared", "functions", "harness", "infra", "server", "cli", "action", "clients/typescript/src"];
const MAX_ROUNDS = 4;

/** The files, those that import them, those that import these, and so on. */
export async function listByDistance(files: readonly string[]): Promise<readonly (readonly string[])[]> {
  const all = (await listFiles(CODE)).filter((file) => file.endsWith(".ts"));
  const imports = all.map((file) => ({ file, imported: listImports(file) }));
  const rounds = [files];
  for (let last = files; last.length > 0 && rounds.length < MAX_ROUNDS; ) {
    const known = new Set(rounds.flat());
    const isImporter = (imported: readonly string[]) => imported.some((one) => last.includes(one));
    const found = imports.filter(({ file, imported }) => !known.has(file) && isImporter(imported));
    last = found.map(({ file }) => file);
    rounds.push(last);
  }
  return rounds;
}

function listImports(file: string): readonly string[] {
  const paths = [...readFileSync(file, "utf8").matchAll(/\bfrom "(#|\.\.?\/)([^"]+)"/g)];
  return paths.map(([, start = "", rest = ""]) => (start === "#" ? rest : join(dirname(file), start, rest)));
}
