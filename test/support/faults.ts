import { AsyncLocalStorage } from "node:async_hooks";
import type { Key, Table, TransactionWrite } from "#shared/table/table.ts";

/**
 * How a call to AWS goes wrong:
 * - `before`: the function dies before the call is made;
 * - `after`: the call is done, and the function dies before it hears of it;
 * - `unheard`: the call is done and its answer lost on the way, so the SDK makes it again.
 */
export type Fault = "before" | "after" | "unheard";

/** Does a call of the function that is at work, or lets it go wrong. `name` says what is called and with what. */
export type Around = <T>(name: string, perform: () => Promise<T>) => Promise<T>;

/** A function that died. Whatever it does after that has no effect. */
class Died extends Error {}

interface Invocation {
  readonly name: string;
  dead: boolean;
}

/** Counts the calls to AWS of all functions, and lets one of them go wrong. */
export class Faults {
  /** The calls so far, in order: `function: call`. */
  readonly calls: string[] = [];
  /** The place of the call that goes wrong, from 0, and how. */
  plan: { readonly at: number; readonly fault: Fault } | undefined;
  /** What happens right before the call at a place, by somebody else. */
  meanwhile: { readonly at: number; readonly work: () => Promise<unknown> } | undefined;
  readonly #invocations = new AsyncLocalStorage<Invocation>();

  /** One invocation of a function; answers undefined where it died. */
  async invoke<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    const invocation: Invocation = { name, dead: false };
    try {
      const response = await this.#invocations.run(invocation, work);
      return invocation.dead ? undefined : response;
    } catch (error) {
      if (invocation.dead) return undefined;
      throw error;
    }
  }

  readonly around: Around = async (name, perform) => {
    const invocation = this.#invocations.getStore();
    // What a test does itself is no call of the service.
    if (invocation === undefined) return perform();
    if (invocation.dead) throw new Died();
    const at = this.calls.push(`${invocation.name}: ${name}`) - 1;
    if (this.meanwhile?.at === at) {
      const { work } = this.meanwhile;
      this.meanwhile = undefined;
      await this.#invocations.exit(work);
    }
    const fault = this.plan?.at === at ? this.plan.fault : undefined;
    if (fault === undefined) return perform();
    if (fault === "unheard") {
      await perform();
      return perform();
    }
    if (fault === "after") await perform().catch(() => undefined);
    invocation.dead = true;
    throw new Died();
  };
}

/** A table whose calls go through `around`. A transaction has a token: made twice, it is done once. */
export function watchedTable<T extends Table>(table: T, around: Around): T {
  return {
    ...table,
    get: (key) => around(`get ${toShape(key)}`, () => table.get(key)),
    batchGet: (keys) => around(`batchGet ${[...new Set(keys.map(toShape))].join(" ")}`, () => table.batchGet(keys)),
    query: (query) =>
      around(`query ${query.index ?? toShape({ pk: query.pk, sk: query.prefix ?? "" })}`, () => table.query(query)),
    write: (write) => around(`write ${shapeOfWrite(write)}`, () => table.write(write)),
    transact(writes) {
      let done: Promise<void> | undefined;
      return around(`transact ${writes.map(shapeOfWrite).join(" ")}`, () => {
        done ??= table.transact(writes);
        return done;
      });
    },
  };
}

/** Some methods of a port, whose calls go through `around`; `detail` says with what one is called. */
export function watched<P extends object, M extends string>(
  name: string,
  port: P & Record<M, (...args: never[]) => Promise<unknown>>,
  methods: readonly M[],
  around: Around,
): P {
  const wrapped = methods.map((method) => {
    const call = port[method];
    return [method, (...args: never[]) => around(`${name}.${method}`, () => call.apply(port, args))] as const;
  });
  return { ...port, ...Object.fromEntries(wrapped) };
}

const shapeOfWrite = (write: TransactionWrite): string =>
  `${write.kind}:${toShape(write.kind === "put" ? write.item : write.key)}`;

/** A key without what is different each time. */
const toShape = ({ pk, sk }: Key): string => `${pk.split("#")[0]}/${sk.split("#")[0]}`;
