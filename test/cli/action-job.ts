import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { runAction } from "../../action/action.ts";

/** A step of a job that runs the action. */
export interface Step {
  /** Cancels the step like the signals of a runner. */
  readonly cancel: () => void;
  readonly log: () => string;
  readonly exited: Promise<number>;
}

/** Creates a folder with the runner's files `output` and `summary`. */
export function createJobFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "runyard-action-"));
  for (const name of ["output", "summary"]) writeFileSync(path.join(folder, name), "");
  return folder;
}

/**
 * Starts the action with the inputs and the job in variables, as a runner gives them, and no others.
 * @param folder that of `createJobFolder`
 */
export function startAction(
  { folder, baseURL }: { readonly folder: string; readonly baseURL: string },
  inputs: Record<string, string>,
  more: Record<string, string | undefined> = {},
): Step {
  const given = {
    "base-url": baseURL,
    "api-key": "rya_secret",
    "fail-on-failure": "true",
    ...inputs,
  };
  const env = {
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    GITHUB_OUTPUT: path.join(folder, "output"),
    GITHUB_STEP_SUMMARY: path.join(folder, "summary"),
    GITHUB_ACTION: "__acme_runyard",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_SHA: "0123abcd",
    GITHUB_REF: "refs/heads/main",
    GITHUB_RUN_ID: "77",
    GITHUB_SERVER_URL: "https://github.com",
    ...more,
  };
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const exited = runAction({
    env,
    print: (line) => void lines.push(`${line}\n`),
    onCancel: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  return {
    cancel: () => {
      for (const listener of listeners) listener();
    },
    log: () => lines.join(""),
    exited: exited.finally(() => expect(listeners).toEqual(new Set())),
  };
}

/** The outputs of the step, as the runner reads the file. */
export function readOutputs(folder: string): Record<string, string> {
  const text = readFileSync(path.join(folder, "output"), "utf8");
  return Object.fromEntries(
    [...text.matchAll(/^(\S+)<<(\S+)\n([\s\S]*?)\n\2$/gm)].map(([, name = "", , value = ""]) => [name, value]),
  );
}
