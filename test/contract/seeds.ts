import { routes } from "#infra/routes.ts";
import { type KeyPrincipalName, makeStage, type Stage } from "../support/principals.ts";
import { bodies, prepare, toTarget } from "../support/valid-requests.ts";

/** The parts of a valid request of an operation. It returns 2xx on the stage that it belongs to. */
export interface Seed {
  /** An API key of a principal that may call; none for a public operation. */
  readonly key?: string;
  readonly team: string;
  /** Values of the path's parameters, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Values of the query's parameters, by name. */
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Seeds {
  /** The seed for the next request of `METHOD /path`; all operations of the stateful phase share one stage. */
  take(operation: string, stateful: boolean): Promise<Seed>;
  /** Returns the stage of a request's key, or else the operation's own stage. */
  prepareStage(operation: string, authorization: string | undefined): Promise<Stage>;
  /** Replaces an operation's stage if a response shows that it changed. */
  noteResponse(operation: string, stage: Stage, status: number): void;
}

/** The owner of the key for each kind of principal of a route. */
const CALLERS: Readonly<Record<string, KeyPrincipalName>> = {
  personal: "creator",
  agent: "agent of the team",
  run: "the run itself",
};

/** The most requests that a stage serves, so that it stays small. */
const MAX_REQUESTS = 40;

interface Use {
  readonly stage: Stage;
  readonly seed: Seed;
  requests: number;
}

/** Creates stages for Schemathesis. Each operation has its own, which is replaced when a request has changed it. */
export function seeds(): Seeds {
  const uses = new Map<string, Use>();
  const rounds = new Map<string, number>();
  const byKey = new Map<string, Stage>();
  let shared: Promise<Stage> | undefined;

  async function newStage(): Promise<Stage> {
    const stage = await makeStage();
    for (const name of Object.values(CALLERS)) byKey.set(stage.key(name), stage);
    return stage;
  }

  async function prepareUse(operation: string): Promise<Use> {
    const found = uses.get(operation);
    if (found !== undefined && found.requests < MAX_REQUESTS) return found;
    if (found !== undefined) forget(operation, found);
    const stage = await newStage();
    await prepare(operation, stage);
    const round = rounds.get(operation) ?? 0;
    rounds.set(operation, round + 1);
    const use = { stage, seed: createSeed(operation, stage, round), requests: 0 };
    uses.set(operation, use);
    return use;
  }

  function forget(operation: string, { stage }: Use): void {
    uses.delete(operation);
    for (const name of Object.values(CALLERS)) byKey.delete(stage.key(name));
  }

  return {
    async take(operation, stateful) {
      if (stateful) {
        shared ??= newStage();
        return { ...chooseCaller(operation, await shared, 0), path: {}, query: {} };
      }
      const use = await prepareUse(operation);
      use.requests++;
      return use.seed;
    },
    async prepareStage(operation, authorization) {
      const key = authorization?.replace("Bearer ", "") ?? "";
      return byKey.get(key) ?? (await prepareUse(operation)).stage;
    },
    noteResponse(operation, stage, status) {
      const use = uses.get(operation);
      if (use?.stage !== stage) return;
      const changes = !operation.startsWith("GET ") && status < 300;
      if (changes || status === 409 || status === 429) use.requests = MAX_REQUESTS;
      // Switches sooner to another caller if this one is not authorized.
      if (status === 403) use.requests += MAX_REQUESTS / 5;
    },
  };
}

function createSeed(operation: string, stage: Stage, round: number): Seed {
  const body = bodies[operation]?.(stage);
  const [path = "", query = ""] = toTarget(operation, stage).split("?");
  return {
    ...chooseCaller(operation, stage, round),
    path: chooseParameters(operation, path),
    query: Object.fromEntries(new URLSearchParams(query)),
    ...(body === undefined ? {} : { body }),
  };
}

/** Selects the caller: `round` rotates through the permitted kinds of principals, people first. */
function chooseCaller(operation: string, stage: Stage, round: number): Pick<Seed, "key" | "team"> {
  const route = routes.find(({ method, path }) => `${method} ${path}` === operation);
  if (route === undefined) throw new Error(`infra/routes.ts has no ${operation}`);
  const caller = route.who === "public" ? undefined : CALLERS[route.who[round % route.who.length] ?? ""];
  return { ...(caller === undefined ? {} : { key: stage.key(caller) }), team: stage.plane.team };
}

function chooseParameters(operation: string, target: string): Record<string, string> {
  const names = operation.split("/").slice(1);
  const [, ...parts] = target.split("/");
  const pairs = names.map((name, index) => [name, parts[index] ?? ""] as const);
  return Object.fromEntries(
    pairs.filter(([name]) => name.startsWith("{")).map(([name, id]) => [name.slice(1, -1), id]),
  );
}
