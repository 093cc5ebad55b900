import { cpSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import { entryFiles, findWiring } from "./entries.ts";

/**
 * Parts that the bundler creates once for all functions, loaded on first use: adapters that few requests need, which share the SDK's core,
 * and the cron library.
 */
const PARTS = [
  ...["aws/files-part", "aws/invocation-part", "aws/queue-part", "aws/timers-part"],
  "schedules/timetable-part",
];
/** The folder of the parts in the directory of a function. */
const FOLDER = "aws";

/** The ports whose adapters are parts. Functions with other clients of AWS have these in their own module as well. */
const WIRINGS = [
  "createRunPorts",
  "createRunEndpointPorts",
  "createSchedulePorts",
  "createRunNowPorts",
  "createSkillPorts",
  "createIngressPorts",
  "createRedeliveryPorts",
  "createMcpPorts",
];

/** Functions that check or evaluate expressions of triggers, in a thread with a separate file. */
const WITH_EXPRESSIONS = [
  ...["triggers/create-trigger", "triggers/update-trigger", "triggers/test-trigger"],
  "executions/decide-events",
];

/** Makes the file of that thread and copies it into the directories of the functions. */
export function buildExpressionWorker(root: string, outdir: string, options: BuildOptions): Metafile {
  const folder = join(dirname(outdir), "expressions");
  const { metafile } = buildSync({
    ...options,
    metafile: true,
    absWorkingDir: root,
    outdir: folder,
    entryPoints: [{ in: join(root, "shared/triggers/expressions/worker.ts"), out: "expression-worker" }],
    sourcemap: false,
  });
  for (const file of WITH_EXPRESSIONS) cpSync(folder, join(outdir, file), { recursive: true });
  return metafile;
}

/** Whether a function loads its adapters on first use. Consumers use all of theirs. */
export const hasParts = (file: string): boolean =>
  !file.startsWith("executions/") && WIRINGS.includes(findWiring(file)[1]);

/** esbuild's options for functions with parts, which exclude the parts from their modules. */
export const withoutParts: { readonly alias: Readonly<Record<string, string>>; readonly external: string[] } = {
  alias: {
    "#shared/wiring/adapters.ts": "#shared/wiring/lazy-adapters.ts",
    ...Object.fromEntries(PARTS.map((part) => [`#shared/${part}.ts`, `./${FOLDER}/${basename(part)}.mjs`])),
  },
  external: [`./${FOLDER}/*`],
};

/** Makes the parts and copies them into the directories of the functions. */
export function buildParts(root: string, outdir: string, options: BuildOptions): Metafile {
  const folder = join(dirname(outdir), FOLDER);
  const { metafile } = buildSync({
    ...options,
    metafile: true,
    absWorkingDir: root,
    outdir: folder,
    entryPoints: PARTS.map((part) => ({ in: join(root, "shared", `${part}.ts`), out: basename(part) })),
    splitting: true,
    sourcemap: false,
    chunkNames: "shared-[hash]",
  });
  for (const file of entryFiles.filter(hasParts)) cpSync(folder, join(outdir, file, FOLDER), { recursive: true });
  return metafile;
}

/** The outputs that loading an output loads as well, itself included. */
export function loadedAtStart(metafile: Metafile, output: string): Metafile["outputs"][string][] {
  const { outputs } = metafile;
  const found = new Set<Metafile["outputs"][string]>();
  const visit = (name: string): void => {
    const loaded = outputs[name] ?? Object.entries(outputs).find(([path]) => path.endsWith(`/${name}`))?.[1];
    if (loaded === undefined || found.has(loaded)) return;
    found.add(loaded);
    for (const { path, kind } of loaded.imports) if (kind === "import-statement") visit(normalize(path));
  };
  visit(output);
  return [...found];
}
