/** `npm run build:web`: builds the web app into dist/web, where the single machine and the deployment take it from. */
import path from "node:path";
import { build, type HtmlTagDescriptor, type Plugin } from "vite";
import { recordWebBuild } from "../host/http/web-app.ts";
import { root } from "./run-command.ts";

/** Has browsers fetch the font and the scripts of the pages that people open first while they run the main script. */
const preloadFirstPages: Plugin = {
  name: "preload-first-pages",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle = {} }) =>
      Object.values(bundle).flatMap((part): HtmlTagDescriptor[] => {
        const href = `/${part.fileName}`;
        if (/inter-latin-wght-normal.*\.woff2$/.test(href)) {
          return [{ tag: "link", attrs: { rel: "preload", as: "font", type: "font/woff2", href, crossorigin: "" } }];
        }
        const isFirst = part.type === "chunk" && /\/(runs-page|run-page)\.tsx$/.test(part.facadeModuleId ?? "");
        return isFirst ? [{ tag: "link", attrs: { rel: "modulepreload", href, crossorigin: "" } }] : [];
      }),
  },
};

// Vite builds for development if a caller, such as a test, has set another environment.
process.env["NODE_ENV"] = "production";
const built = await build({
  root: path.join(root, "web"),
  configFile: false,
  plugins: [preloadFirstPages],
  // Libraries mark their modules for server components; the bundler warns of each mark.
  logLevel: "error",
  build: {
    outDir: path.join(root, "dist/web"),
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would need a content security policy that allows data: scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
  },
});
const outputs = Array.isArray(built) ? built : "output" in built ? [built] : [];
const modules = outputs
  .flatMap(({ output }) => output)
  .flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
  .filter((file) => file.startsWith(root))
  .map((file) => path.relative(root, file));
await recordWebBuild(modules);
