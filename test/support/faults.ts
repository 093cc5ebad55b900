import { AsyncLocalStorage } from "node:async_hooks";
import type { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import type { Key, Table, TransactionWrite } from "#shared/table/table.ts";

/**
 * How a call to AWS goes wrong:
 * - `before`: the function dies before the call is made;
 * - `after`: the call is done, and the function dies before it gets the response;
 * - `unheard`: the call is done and its response is lost, so the SDK repeats the call.
 */
export type Fault = "before" | "after" | "unheard";

/** Performs a call of the running function, or makes it fail. `name` describes the call and its key. */
export type Around = <T>(name: string, perform: () => Promise<T>) => Promise<T>;

/** The function died. Nothing that it does afterwards has an effect. */
class Died extends Error {}

type Output = Awaited<ReturnType<DynamoClient["send"]>>;

interface Invocation {
  readonly name: string;
  dead: boolean;
}

/** Counts the AWS calls of all functions, and makes one of them fail. */
export class Faults {
  /** The calls so far, in order: `function: call`. */
  readonly calls: string[] = [];
  /** The index of the call that fails, from 0, and how it fails. */
  plan: { readonly at: number; readonly fault: Fault } | undefined;
  /** What another caller does right before the call at this index. */
  meanwhile: { readonly at: number; readonly work: () => Promise<unknown> } | undefined;
  readonly #invocations = new AsyncLocalStorage<Invocation>();

  /** Invokes a function once. Returns undefined if it died. */
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
    // Calls of the test itself are not calls of the service.
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

/**
 * A table whose calls go through `around`. Transactions go through the table on DynamoDB, whose token makes a repeated
 * transaction have no effect.
 */
export function watchedTable<T extends Table>(table: T, around: Around): T {
  return {
    ...table,
    get: (key) => around(`get ${toShape(key)}`, () => table.get(key)),
    batchGet: (keys) => around(`batchGet ${[...new Set(keys.map(toShape))].join(" ")}`, () => table.batchGet(keys)),
    query: (query) =>
      around(`query ${query.index ?? toShape({ pk: query.pk, sk: query.prefix ?? "" })}`, () => table.query(query)),
    write: (write) => around(`write ${shapeOfWrite(write)}`, () => table.write(write)),
    transact(writes) {
      const done = new Map<unknown, Promise<void>>();
      const execute = async (token: unknown): Promise<Output> => {
        const transacted = done.get(token) ?? table.transact(writes);
        if (token !== undefined) done.set(token, transacted);
        await transacted;
        return { $metadata: { httpStatusCode: 200 } };
      };
      const name = `transact ${writes.map(shapeOfWrite).join(" ")}`;
      const send: DynamoClient["send"] = (_, input) =>
        around(name, () => execute(Reflect.get(input, "ClientRequestToken")));
      return dynamoTable({ send }, "table").transact(writes);
    },
  };
}

/** A port whose calls of `methods` go through `around`. */
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

/** A key without the parts that differ between executions of a test. */
const toShape = ({ pk, sk }: Key): string => `${pk.split("#")[0]}/${sk.split("#")[0]}`;
