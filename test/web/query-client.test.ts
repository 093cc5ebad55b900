import * as v from "valibot";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

/** The tested exports, whose types need a browser. */
interface QueryClient {
  getQueryData(key: readonly string[]): unknown;
  clear(): void;
}
interface Options {
  readonly queryKey: readonly string[];
  readonly queryFn: () => Promise<string>;
  readonly gcTime: number;
}
interface Filters {
  readonly queryKey?: readonly string[];
  readonly predicate?: (query: { readonly queryKey: readonly string[] }) => boolean;
}
type QueryObserver = new (client: QueryClient, options: Options) => { subscribe(onChange: () => void): () => void };
const isFunction = (value: unknown) => typeof value === "function";
const Modules = v.object({
  QueryObserver: v.custom<QueryObserver>(isFunction),
  queryClient: v.custom<QueryClient>((value) => typeof value === "object"),
  refreshQueries: v.custom<(filters?: Filters) => Promise<void>>(isFunction),
});
const load = (name: string): Promise<object> => import(name);
let app: v.InferOutput<typeof Modules>;

/** Each read of a query waits for its own response, which the test gives. */
let respond: ((data: string) => void)[] = [];
let end: () => void;

const watch = (name: string) => {
  const queryFn = () => new Promise<string>((resolve) => respond.push(resolve));
  const observer = new app.QueryObserver(app.queryClient, { queryKey: [name], queryFn, gcTime: 0 });
  return observer.subscribe(() => undefined);
};
const shown = (name: string) => app.queryClient.getQueryData([name]);

describe("reading queries again", () => {
  beforeAll(async () => {
    const names = ["@tanstack/react-query", "../../web/api/query-client.ts"];
    app = v.parse(Modules, Object.assign({}, ...(await Promise.all(names.map(load)))));
  });
  beforeEach(() => {
    respond = [];
    end = watch("run");
  });
  afterEach(() => {
    end();
    app.queryClient.clear();
  });

  it("ignores the response of a first read that was under way", async () => {
    const refreshed = app.refreshQueries({ queryKey: ["run"] });
    await vi.waitFor(() => expect(respond).toHaveLength(2));
    respond[0]?.("before");
    respond[1]?.("after");
    await refreshed;
    expect(shown("run")).toBe("after");
  });

  it("keeps the data of an earlier read until there is a response", async () => {
    respond[0]?.("before");
    await vi.waitFor(() => expect(shown("run")).toBe("before"));
    const refreshed = app.refreshQueries();
    await vi.waitFor(() => expect(respond).toHaveLength(2));
    expect(shown("run")).toBe("before");
    respond[1]?.("after");
    await refreshed;
    expect(shown("run")).toBe("after");
  });

  it("leaves first reads alone that the predicate leaves out", async () => {
    const endOther = watch("session");
    const refreshed = app.refreshQueries({ predicate: ({ queryKey: [name] }) => name !== "session" });
    await vi.waitFor(() => expect(respond).toHaveLength(3));
    respond[1]?.("signed in");
    respond[2]?.("after");
    await refreshed;
    expect([shown("session"), shown("run")]).toEqual(["signed in", "after"]);
    endOther();
  });
});
