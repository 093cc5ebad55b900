import type { Host } from "#harness/isolation/host.ts";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createWorkspace } from "#harness/isolation/workspace.ts";
import { runSession } from "#harness/session/run-session.ts";
import type { FakeControlPlane } from "../../../lab/fake-control-plane.ts";

/** Executes a run in this process, without isolation. */
export function runInProcess(plane: FakeControlPlane, stop = new AbortController()) {
  const workspace = createWorkspace();
  const host: Host = {
    workspace,
    contained: false,
    sandbox: (run) => createPlainSandbox({ ...run, host: workspace.paths }, "none"),
    close: () => workspace.remove(),
  };
  return runSession(plane.envelope, Promise.resolve(host), stop);
}
