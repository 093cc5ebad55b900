import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as v from "valibot";

/** What one page may take. */
const CONVERT_MS = 20_000;
const MEMORY_MB = 512;

const Converted = v.object({ markdown: v.string(), title: v.optional(v.string()) });

/**
 * Converts a page to Markdown in a process of its own without an environment: a page can take any time and memory, and a thread that has
 * no memory left ends all of its process.
 * @throws if the page takes too much
 */
export async function convertToMarkdown(html: string, signal: AbortSignal): Promise<v.InferOutput<typeof Converted>> {
  // The program is next to the bundle, or in the source tree when the harness is not bundled.
  const program = import.meta.url.endsWith(".ts") ? "../../markdown-main.ts" : "./markdown.mjs";
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [`--max-old-space-size=${MEMORY_MB}`, "--no-warnings", file], {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    signal: AbortSignal.any([signal, AbortSignal.timeout(CONVERT_MS)]),
    killSignal: "SIGKILL",
  });
  // Each of these ends its output, which is no JSON then.
  for (const emitter of [child, child.stdin]) emitter.on("error", () => {});
  child.stdin.end(html);
  const printed = await text(child.stdout).catch(() => "");
  signal.throwIfAborted();
  try {
    return v.parse(Converted, JSON.parse(printed));
  } catch {
    throw new Error("the page is too complex to convert: download it with run_command and curl");
  }
}
