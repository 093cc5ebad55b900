import type { AccessPorts } from "../access.ts";
import type { AnsweredEvent } from "../event.ts";
import { findSource } from "../sources/find-source.ts";
import type { PullHead } from "../sources/source.ts";
import { nameCredential, readCredential, requestSystem } from "../systems/credential.ts";
import type { Trigger } from "../trigger-store.ts";

/**
 * Finds the head of the pull request that an event is about: in the event, or else by the credential, since events of comments on GitHub
 * do not have it. Undefined where there is none, or no way to find it.
 * @throws RunyardError, retryable, where GitHub does not respond or refuses the credential
 */
export async function findPullHead(
  trigger: Trigger,
  event: AnsweredEvent,
  ports: AccessPorts,
): Promise<PullHead | undefined> {
  const source = findSource(trigger);
  const pull = source.toPull?.(event);
  if (pull === undefined || pull.head !== undefined) return pull?.head;
  const { thread } = source.toPlaces?.(event) ?? {};
  const named = nameCredential(trigger, event);
  if (trigger.kind !== "github" || named === undefined || thread === undefined) return undefined;
  const credential = await readCredential(named, ports);
  const request = { action: "read_pull", ...credential, repository: thread.container, pull: pull.number } as const;
  const { head } = await requestSystem(ports.systems, request);
  return head && { branch: head.branch, isFork: head.is_fork };
}
