import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as v from "valibot";
import type { HtmlTagDescriptor, IndexHtmlTransformContext, Plugin } from "vite";

type Bundle = NonNullable<IndexHtmlTransformContext["bundle"]>;
type Chunk = Extract<Bundle[string], { type: "chunk" }>;

/**
 * Puts into the page the frame of all pages, and a script that runs before all others and loads what the opened page needs besides the
 * main script.
 */
export function startPlugin(source: string): Plugin {
  let script = { fileName: "", text: "" };
  return {
    name: "start-script",
    transformIndexHtml: {
      order: "post",
      handler: async (html, { bundle = {} }) => {
        const text = await buildScript(source, toPageFiles(bundle, path.dirname(source)));
        const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
        script = { fileName: `assets/start-${hash}.js`, text };
        const isFont = (name: string) => /inter-basic.*\.woff2$/.test(name);
        const fonts = Object.keys(bundle).filter(isFont);
        const frame = await renderFrame(path.join(path.dirname(source), "shell/static-frame.tsx"));
        return {
          html: html.replace('<div id="root"></div>', () => `<div id="root">${frame}</div>`),
          tags: [...fonts.map(toFontTag), { tag: "script", attrs: { src: `/${script.fileName}` } }],
        };
      },
    },
    // The page is made when all other files are known, after the usual time to add one.
    writeBundle: {
      order: "post",
      async handler({ dir = "" }) {
        await writeFile(path.join(dir, script.fileName), script.text);
      },
    },
  };
}

const toFontTag = (name: string): HtmlTagDescriptor => ({
  tag: "link",
  attrs: { rel: "preload", as: "font", type: "font/woff2", href: `/${name}`, crossorigin: "" },
});

/** The scripts of each page that the main script does not need, by the page's module. */
function toPageFiles(bundle: Bundle, directory: string): Record<string, string[]> {
  const chunks = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? [part] : []));
  const main = chunks.find(({ isEntry }) => isEntry);
  if (main === undefined) throw new Error("the web app has no entry");
  const shared = collectChunks(main, bundle);
  return Object.fromEntries(
    chunks.flatMap((chunk) => {
      const module = path.relative(directory, chunk.facadeModuleId ?? "");
      if (!module.endsWith("-page.tsx")) return [];
      const own = [...collectChunks(chunk, bundle)].filter((one) => !shared.has(one));
      return [[module, own.map(({ fileName }) => fileName)]];
    }),
  );
}

/** A chunk and all that it imports when it is loaded. */
function collectChunks(chunk: Chunk, bundle: Bundle, found = new Set<Chunk>()): Set<Chunk> {
  if (found.has(chunk)) return found;
  found.add(chunk);
  for (const name of chunk.imports) {
    const imported = bundle[name];
    if (imported?.type === "chunk") collectChunks(imported, bundle, found);
  }
  return found;
}

async function buildScript(source: string, pageFiles: Record<string, string[]>): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2023",
    define: { PAGE_FILES: JSON.stringify(pageFiles) },
  });
  return outputFiles[0]?.text ?? "";
}

const FrameModule = v.object({ renderFrame: v.function() });

/** Renders the frame with the components of the app. Node reads no JSX, so that they are bundled first. */
async function renderFrame(source: string): Promise<string> {
  const outfile = path.join(import.meta.dirname, `../node_modules/.cache/frame-${process.pid}.mjs`);
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    jsx: "automatic",
    // Addresses of the page's own origin are relative.
    define: { "location.origin": '""' },
    loader: { ".css": "empty" },
  });
  try {
    const module = v.parse(FrameModule, await import(pathToFileURL(outfile).href));
    return v.parse(v.string(), module.renderFrame());
  } finally {
    await rm(outfile, { force: true });
  }
}
