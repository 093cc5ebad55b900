import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { LayerFile } from "./image-registry.ts";

/** A layer with a static busybox, and nothing else: no bash, no git and no libc. */
export function listBusyboxFiles(): LayerFile[] {
  const names = execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).trim().split("\n");
  return [
    { name: "bin/" },
    { name: "bin/busybox", mode: 0o755, content: readFileSync("/bin/busybox") },
    ...names
      .filter((name) => name !== "busybox")
      .map((name) => ({ name: `bin/${name}`, kind: "link" as const, target: "busybox" })),
  ];
}
