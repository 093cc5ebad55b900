/** `npm run build:web`: builds the web app into dist/web, where the single machine and the deployment take it from. */
import path from "node:path";
import { build } from "vite";
import { recordWebBuild } from "../host/http/web-app.ts";
import { root } from "./run-command.ts";
import { startPlugin } from "./web-start.ts";

/** The library that all pages need, in a file that changes rarely. */
const react = { name: "react", test: /node_modules\/(react|react-dom|scheduler)\// };

// Vite builds for development if a caller, such as a test, has set another environment.
process.env["NODE_ENV"] = "production";
const built = await build({
  root: path.join(root, "web"),
  configFile: false,
  plugins: [startPlugin(path.join(root, "web/start.ts"))],
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
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [react] },
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
await recordWebBuild(modules);
