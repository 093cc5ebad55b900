import { logLine } from "#shared/log/log.ts";
import { type FoundSkills, FRESH_SECONDS, readFound } from "./found-skills.ts";
import type { SkillPorts } from "./ports.ts";
import { keyOf, type Place } from "./repository.ts";

/** Repositories that are looked into at the same time. */
const AT_ONCE = 8;
/** Milliseconds after which a list is answered with what is known by then. */
const REFRESH_MS = 20_000;

/** A repository and what is known of it. */
export interface KnownPlace {
  readonly place: Place;
  /** Undefined where nothing is known of it, not even why. */
  readonly known: FoundSkills | undefined;
}

/** What is known of each place, after looking again where it was too long ago, or was wanted, within bounded time. */
export async function upToDate(places: readonly Place[], wanted: boolean, ports: SkillPorts): Promise<KnownPlace[]> {
  const before = await readFound(places.map(keyOf), ports);
  const due = places.filter((_, index) => isDue(before[index], wanted, ports.now()));
  if (due.length > 0) await refreshAll(due, ports);
  const after = due.length > 0 ? await readFound(due.map(keyOf), ports) : [];
  return places.map((place, index) => {
    const position = due.indexOf(place);
    return { place, known: position < 0 ? before[index] : after[position] };
  });
}

/** A host that counts requests is left alone until it takes them again, whoever asks. */
function isDue(known: FoundSkills | undefined, wanted: boolean, now: number): boolean {
  if (known?.failure !== undefined) return now >= known.failure.retry_at || (wanted && !known.failure.limited);
  return wanted || known?.found === undefined || now - known.found.checkedAt >= FRESH_SECONDS * 1000;
}

async function refreshAll(due: readonly Place[], { discovery }: SkillPorts): Promise<void> {
  const waiting = [...due];
  const late = Promise.withResolvers<void>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late.resolve();
  }, REFRESH_MS);
  const lane = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined && !isLate; place = waiting.shift()) {
      const { url, ref } = place;
      await discovery.refresh({ url, ...(ref === undefined ? {} : { ref }) }).catch((error: unknown) => {
        logLine("error", "a repository was not looked into", { owner: place.owner, name: place.name, error });
      });
    }
  };
  await Promise.race([late.promise, Promise.all(Array.from({ length: AT_ONCE }, lane))]);
  clearTimeout(timer);
}
