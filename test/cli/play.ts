import { expect } from "vitest";
import { runCli } from "../../cli/src/program.ts";
import type { FaultServer } from "../clients/fault-server.ts";
import { type FakeOptions, FakeShell } from "./fake-shell.ts";

export interface Played {
  readonly code: number;
  readonly shell: FakeShell;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line against the script of a server, and fails if it sends other requests. */
export const createPlayer =
  (server: FaultServer) =>
  async (args: readonly string[], options: FakeOptions = {}): Promise<Played> => {
    const env = { RUNYARD_API_KEY: "ryp_secret", RUNYARD_BASE_URL: server.api, ...options.env };
    const shell = new FakeShell({ ...options, env });
    const code = await runCli(shell, args);
    expect(server.complaints).toEqual([]);
    return { code, shell, out: shell.stdout, err: shell.stderr };
  };
