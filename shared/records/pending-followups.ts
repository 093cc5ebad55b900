import type { FollowupItem } from "#shared/wire/runs/followup.ts";
import { isExecutingHead, type RunHead } from "./run-head.ts";

/** The state of a follow-up: pending until the harness takes it, unless a cancel or a request removes it. */
export function toFollowupState(number: number, head: RunHead): FollowupItem["state"] {
  const { followups_removed = [], followups_deleted = [] } = head;
  const isRemoved = followups_removed.some(([first, last]) => number >= first && number <= last);
  if (isRemoved || followups_deleted.includes(number)) return "removed";
  if (number <= lastTaken(head)) return "delivered";
  return head.state === "CANCELLED" ? "removed" : "pending";
}

/** The numbers of the follow-ups that are pending, in the order of their delivery. */
export function listPendingNumbers(head: RunHead): number[] {
  const last = lastTaken(head);
  const numbers = Array.from({ length: Math.max(0, head.followups - last) }, (_, index) => last + index + 1);
  return numbers.filter((number) => toFollowupState(number, head) === "pending");
}

export const countPendingFollowups = (head: RunHead): number => listPendingNumbers(head).length;

/** The number of the next follow-up that an execution receives after `taken`, also a cancelled one; undefined if none waits. */
export function findNextFollowup({ followups, followups_deleted = [] }: RunHead, taken: number): number | undefined {
  let next = taken + 1;
  while (followups_deleted.includes(next)) next++;
  return next <= followups ? next : undefined;
}

const lastTaken = (head: RunHead): number =>
  Math.max(head.followups_stored, isExecutingHead(head) ? (head.followups_taken ?? 0) : 0);
