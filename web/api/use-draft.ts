import { useState } from "react";
import * as v from "valibot";
import { keepDraft, readDrafts } from "./drafts.ts";
import { randomKey } from "./random-key.ts";
import { useMe } from "./session.ts";

interface DraftState<T> {
  readonly value: T;
  /** Whether the person has written anything. */
  readonly isChanged: boolean;
  /** Names requests that send this value: where a response was lost, the same request again has no second effect. */
  readonly key: string;
}

/** What the signed-in person writes. It outlasts page loads and an expired session, until it is dropped. */
export function useDraft<T>(name: string, schema: v.GenericSchema<unknown, T>, first: T) {
  const { uid: user } = useMe();
  const toFirst = (): DraftState<T> => ({ value: first, isChanged: false, key: randomKey() });
  const [draft, setDraft] = useState((): DraftState<T> => {
    const kept = readDrafts(user)[name];
    const value = v.safeParse(schema, kept?.value);
    if (kept === undefined || !value.success) return toFirst();
    return { value: value.output, isChanged: true, key: kept.key };
  });
  return {
    ...draft,
    change: (value: T) => {
      const changed = { value, isChanged: true, key: randomKey() };
      setDraft(changed);
      keepDraft(user, name, { value, key: changed.key });
    },
    /** Starts again with the first value. */
    drop: () => {
      setDraft(toFirst());
      keepDraft(user, name, undefined);
    },
  };
}
