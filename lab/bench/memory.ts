import { readdir, readFile } from "node:fs/promises";

export interface Memory {
  readonly processes: number;
  /** Sum of the resident sets; what processes share, a program's code above all, is counted in each of them. */
  readonly rssMb: number;
  /** Sum of the proportional sets: what is shared is counted once. */
  readonly pssMb: number;
}

/** Memory of a process and its descendants. Available on Linux only. */
export async function readMemory(root: number): Promise<Memory | undefined> {
  if (process.platform !== "linux") return undefined;
  const pids = await listProcessTree(root);
  const all = await Promise.all(pids.map(memoryOfProcess));
  const alive = all.filter((entry) => entry !== undefined);
  const sum = (of: (entry: { rss: number; pss: number }) => number) =>
    Math.round(alive.reduce((total, entry) => total + of(entry), 0) / 1024);
  return { processes: alive.length, rssMb: sum(({ rss }) => rss), pssMb: sum(({ pss }) => pss) };
}

/** A process and all below it. */
export async function listProcessTree(root: number): Promise<number[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const children = new Map<number, number[]>();
  await Promise.all(
    names.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      if (Number.isInteger(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    }),
  );
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** In KiB. */
async function memoryOfProcess(pid: number): Promise<{ rss: number; pss: number } | undefined> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN);
  const [rss, pss] = [of("Rss"), of("Pss")];
  return Number.isNaN(rss) || Number.isNaN(pss) ? undefined : { rss, pss };
}
