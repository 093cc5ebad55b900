import type { FileStore } from "#shared/files/file-store.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";
import type { ScanRequest } from "#shared/wire/scan.ts";
import type { Github } from "./github-access.ts";
import type { SkillRepository } from "./repository.ts";

/** What the list of agents needs from the world. */
export interface SkillPorts {
  readonly table: Table;
  readonly files: Pick<FileStore, "get" | "put">;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly discovery: Discovery;
}

/** Whoever looks into repositories. */
export interface Discovery {
  /** Finds the skills of a repository and keeps them, or why it could not; throws where not even that is known. */
  refresh(repository: SkillRepository): Promise<void>;
}

/** What looking into repositories needs from the world. */
export interface DiscoveryPorts extends Pick<SkillPorts, "table" | "files" | "now"> {
  readonly github: Github;
  readonly scanner: Scanner;
}

/** A sandbox that clones a repository and answers what it found; its answer is parsed by whoever asked. */
export interface Scanner {
  scan(request: ScanRequest): Promise<unknown>;
}
