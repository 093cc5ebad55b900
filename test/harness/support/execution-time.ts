import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { runHarness } from "./run-harness.ts";

/**
 * Measures how many milliseconds an execution of one command takes that saves its workspace at the end. Lifetimes of sandboxes that are
 * multiples of it leave enough time for that on a busy machine too.
 */
export async function measureExecution(environment: Record<string, string> = {}): Promise<number> {
  await using plane = await FakeControlPlane.start({ prompt: "```sh\necho saved > file\n```\n" });
  const begun = Date.now();
  await runHarness(plane, environment);
  return Date.now() - begun;
}
