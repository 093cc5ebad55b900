import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import * as v from "valibot";
import { ensureWebApp, webAppDirectory } from "../../server/host/http/web-app.ts";

const Manifest = v.record(
  v.string(),
  v.object({
    file: v.string(),
    isEntry: v.optional(v.boolean(), false),
    imports: v.optional(v.array(v.string()), []),
  }),
);

/** The pages that people open first: the list of runs, and the page of a run, where `session_link` leads. */
const FIRST_PAGES = ["runs/runs-page.tsx", "run/run-page.tsx", "sign-in/sign-in-page.tsx"];

/**
 * Bytes of the scripts that a first page needs before it can be shown, each gzipped by itself, as a browser fetches them. The
 * largest of these pages counts.
 */
export async function webScriptBytes(): Promise<number> {
  await ensureWebApp();
  const manifest = v.parse(
    Manifest,
    JSON.parse(await readFile(path.join(webAppDirectory, ".vite/manifest.json"), "utf8")),
  );
  const [entry = ""] = Object.entries(manifest).flatMap(([name, { isEntry }]) => (isEntry ? [name] : []));
  const needed = (name: string, found: Set<string>): Set<string> => {
    const part = manifest[name];
    if (part === undefined) throw new Error(`the build of the web app has no ${name}`);
    if (found.has(part.file)) return found;
    found.add(part.file);
    for (const imported of part.imports) needed(imported, found);
    return found;
  };
  const html = await readFile(path.join(webAppDirectory, "index.html"), "utf8");
  const start = [...html.matchAll(/<script src="\/([^"]+)">/g)].map(([, file = ""]) => file);
  const sizes = await Promise.all(
    FIRST_PAGES.map(async (page) => {
      const files = [...start, ...needed(page, needed(entry, new Set()))];
      const contents = await Promise.all(files.map((file) => readFile(path.join(webAppDirectory, file))));
      return contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
    }),
  );
  return Math.max(...sizes);
}
