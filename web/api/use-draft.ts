import { useState } from "react";
import * as v from "valibot";
import { keepDraft, readDrafts } from "./drafts.ts";
import { useMe } from "./session.ts";

interface DraftState<T> {
  readonly value: T;
  /** Whether the person has written anything. */
  readonly isChanged: boolean;
}

/** What the signed-in person writes. It outlasts page loads and an expired session, until it is dropped. */
export function useDraft<T>(name: string, schema: v.GenericSchema<unknown, T>, first: T) {
  const { uid: user } = useMe();
  const toFirst = (): DraftState<T> => ({ value: first, isChanged: false });
  const [draft, setDraft] = useState((): DraftState<T> => {
    const stored = v.safeParse(schema, readDrafts(user)[name]);
    return stored.success ? { value: stored.output, isChanged: true } : toFirst();
  });
  return {
    ...draft,
    change: (value: T) => {
      setDraft({ value, isChanged: true });
      keepDraft(user, name, value);
    },
    /** Starts again with the first value. */
    drop: () => {
      setDraft(toFirst());
      keepDraft(user, name, undefined);
    },
  };
}
