import type { FileStore } from "#shared/files/file-store.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";
import type { ScanRequest } from "#shared/wire/scan.ts";
import type { Github } from "./github-access.ts";
import type { SkillRepository } from "./repository.ts";

/** What the list of agents needs from its infrastructure. */
export interface SkillPorts {
  readonly table: Table;
  readonly files: Pick<FileStore, "get" | "put">;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly discovery: Discovery;
}

/** Discovers the skills of repositories. */
export interface Discovery {
  /** Finds the skills of a repository and stores them, or why it could not be read. Throws where neither was stored. */
  refresh(repository: SkillRepository): Promise<void>;
}

/** What discovery needs from its infrastructure. */
export interface DiscoveryPorts extends Pick<SkillPorts, "table" | "files" | "now"> {
  readonly github: Github;
  readonly scanner: Scanner;
}

/** A sandbox that clones a repository and returns the files that it found; the caller parses the response. */
export interface Scanner {
  scan(request: ScanRequest): Promise<unknown>;
}
