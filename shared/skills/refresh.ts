import { logLine } from "#shared/log/log.ts";
import { type Place, toStorageKey } from "./repository.ts";
import type { SkillPorts } from "./skill-ports.ts";
import { type FoundSkills, FRESH_SECONDS, readFound } from "./skill-store.ts";

/** Repositories that are discovered at the same time. */
const AT_ONCE = 8;
/** Milliseconds after which a list shows what is stored by then. */
const REFRESH_MS = 20_000;

/** A repository and what is stored of it. */
export interface KnownPlace {
  readonly place: Place;
  /** Undefined where nothing is stored of it, not even a failure. */
  readonly known: FoundSkills | undefined;
}

/** Reads what is stored of each place, after another discovery where that is due or wanted, within bounded time. */
export async function readUpToDate(
  places: readonly Place[],
  wanted: boolean,
  ports: SkillPorts,
): Promise<KnownPlace[]> {
  const before = await readFound(places.map(toStorageKey), ports);
  const due = places.filter((_, index) => isDue(before[index], wanted, ports.now()));
  if (due.length > 0) await refreshAll(due, ports);
  const after = due.length > 0 ? await readFound(due.map(toStorageKey), ports) : [];
  return places.map((place, index) => {
    const position = due.indexOf(place);
    return { place, known: position < 0 ? before[index] : after[position] };
  });
}

/** A host that limits requests gets none until the limit ends, even where the caller wants a refresh. */
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
  const refreshNext = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined && !isLate; place = waiting.shift()) {
      const { url, ref, teams } = place;
      await discovery.refresh({ url, ...(ref === undefined ? {} : { ref }), teams }).catch((error: unknown) => {
        logLine("error", "a repository was not discovered", { owner: place.owner, name: place.name, error });
      });
    }
  };
  await Promise.race([late.promise, Promise.all(Array.from({ length: AT_ONCE }, refreshNext))]);
  clearTimeout(timer);
}
