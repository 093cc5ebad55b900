/** `npm run prepare`: builds the web app into dist/web, where the single machine and the deployment take it from. */
import { copyFile, glob, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "vite";
import { compress } from "../server/host/http/compress.ts";
import { installWebBuild } from "../server/host/http/web-app.ts";
import { root } from "./run-command.ts";
import { startPlugin } from "./web-start.ts";

/** The library that all pages need, in a file that changes rarely. */
const react = { name: "react", test: /node_modules\/(react|react-dom|scheduler)\// };
/** What else all pages need, in one file. The bundler would make one of each set of parts that the same pages share. */
const shared = { name: "shared", tags: ["$initial" as const] };
/** Small parts that most pages need, for the same reason. */
const parts = {
  name: "parts",
  test: /web\/ui\/(page|format|time|run-state|hidden-characters|person-name|plain-line)\.tsx?$|web\/runs\/(run-time|run-outcome|cost-of|title-of)\./,
};
/** Small parts of the pages with editors. The first page has the name of each file, and needs none of these. */
const editing = {
  name: "editing",
  test: /lucide-react\/.*\/(key-round|pause|pencil|play|trash|trash-2)\.m?js$|web\/.*\/(amount|field|pause-button|use-run-now)\.tsx?$/,
};
/** Icons that the page of a run needs, most of which few other pages need. */
const runIcons = {
  name: "run-icons",
  test: /lucide-react\/.*\/(refresh-cw|link-2|message-square|arrow-down)\.m?js$/,
};
/** What the pages with lists that are read page by page and searched need. */
const paging = {
  name: "paging",
  test: /react-query\/.*\/(useInfiniteQuery|infiniteQueryOptions)\.m?js$|query-core\/.*\/infiniteQueryObserver\.m?js$|web\/api\/pages\.ts$|lucide-react\/.*\/search\.m?js$/,
};

const outDir = path.join(root, `dist/web-${process.pid}`);

// Vite builds for development if a caller, such as a test, has set another environment.
process.env["NODE_ENV"] = "production";
const built = await build({
  root: path.join(root, "web"),
  configFile: false,
  plugins: [startPlugin(path.join(root, "web/start.ts"))],
  // Libraries mark their modules for server components; the bundler warns of each mark.
  logLevel: "error",
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would need a content security policy that allows data: scripts and styles.
    assetsInlineLimit: 0,
    // One style sheet has one order of rules. Those of a page would come before or after the others, depending on when they load.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [react, shared, parts, editing, runIcons, paging] },
        // Browsers compile this file on another thread while it arrives, instead of function by function when they run it.
        postBanner: ({ name }) => (name === react.name ? "//# allFunctionsCalledOnLoad" : ""),
      },
    },
  },
});
const outputs = Array.isArray(built) ? built : "output" in built ? [built] : [];
const modules = outputs
  .flatMap(({ output }) => output)
  .flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
  .filter((file) => file.startsWith(root))
  .map((file) => path.relative(root, file));
await compressFiles();
// CloudFront serves unknown addresses from a copy with another name, by which it recognizes that the status is 404.
await copyFile(path.join(outDir, "index.html"), path.join(outDir, "404.html"));
await installWebBuild(outDir, modules);

/** Compresses the files at the highest quality, which is too slow for a request. A server uses them where they exist. */
async function compressFiles(): Promise<void> {
  const compressed: Promise<void>[] = [];
  for await (const name of glob("assets/*.{js,css}", { cwd: outDir }))
    compressed.push(compressFile(path.join(outDir, name)));
  await Promise.all(compressed);
}

async function compressFile(file: string): Promise<void> {
  await writeFile(`${file}.br`, await compress(await readFile(file), "br", 11));
}
