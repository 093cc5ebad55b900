import path from "node:path";

/** Whether this is a package: its programs are bundled and lie next to each other. */
export const isPackaged = !import.meta.url.endsWith(".ts");

/** The checkout that this program belongs to, or the directory of the package with the same files. */
export const projectRoot = path.resolve(import.meta.dirname, isPackaged ? ".." : "../..");

export interface LocalPaths {
  /** State, logs and settings of one local cloud; git ignores it. */
  home: string;
  /** The emulator's Python environment; shared by all local clouds of this checkout. */
  venv: string;
  /** What the emulator stores between two starts. */
  state: string;
  /** Bodies of objects; the emulator writes these at once. */
  objects: string;
  logs: string;
  /** An empty HOME for the emulator, so that no setting or credential of the user reaches a sandbox. */
  emptyHome: string;
  assembly: string;
  /** The processes of a start, to find those that a killed one left behind. */
  processes: string;
  /** Timers of schedules. */
  timers: string;
  /** Ports of the last start. */
  settings: string;
  /** Address and key, for people, tests and `npm run invoke`. */
  localFile: string;
}

export function localPaths(environment: NodeJS.ProcessEnv): LocalPaths {
  const inCheckout = path.join(projectRoot, ".runyard");
  const home = environment["RUNYARD_STATE"] ? path.resolve(environment["RUNYARD_STATE"]) : inCheckout;
  return {
    home,
    venv: path.join(inCheckout, "venv"),
    state: path.join(home, "state"),
    objects: path.join(home, "objects"),
    logs: path.join(home, "logs"),
    emptyHome: path.join(home, "home"),
    assembly: path.join(home, "cdk.out"),
    processes: path.join(home, "pids.json"),
    timers: path.join(home, "timers.json"),
    settings: path.join(home, "settings.json"),
    localFile: path.join(home, "local.json"),
  };
}

/** A path as a person at the checkout would type it. */
export function toDisplayPath(file: string): string {
  const relative = path.relative(projectRoot, file);
  return relative.startsWith("..") ? file : relative;
}
