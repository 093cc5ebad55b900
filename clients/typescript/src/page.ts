import { RunyardError } from "./errors.ts";
import type { PageInfo } from "./generated/types.ts";
import { APIPromise, type Send } from "./promise.ts";

/** The pagination of every list response. */
export interface PageBody {
  page_info?: PageInfo;
}

/** Fetches the page at the cursor. */
export type NextPage<Item, Body extends PageBody> = (cursor: string) => PagePromise<Item, Body>;

/** One page of a list. Iterating over it continues with all following pages, each fetched when needed. */
export class Page<Item, Body extends PageBody> implements AsyncIterable<Item> {
  /** The items of this page. */
  readonly data: readonly Item[];
  /** The complete response body. */
  readonly body: Body;
  readonly #next: NextPage<Item, Body>;

  constructor(body: Body, data: readonly Item[], next: NextPage<Item, Body>) {
    this.body = body;
    this.data = data;
    this.#next = next;
  }

  get #cursor(): string | undefined {
    const { page_info } = this.body;
    return page_info?.has_next_page ? page_info.next_cursor : undefined;
  }

  hasNextPage(): boolean {
    return this.#cursor !== undefined;
  }

  /** Fetches the next page. Throws if there is none. */
  getNextPage(): PagePromise<Item, Body> {
    if (this.#cursor === undefined) throw new RunyardError("This is the last page; check hasNextPage() first.");
    return this.#next(this.#cursor);
  }

  /** Iterates over this page and all following pages. */
  async *iterPages(): AsyncGenerator<Page<Item, Body>> {
    let page: Page<Item, Body> = this;
    yield page;
    while (page.hasNextPage()) {
      page = await page.getNextPage();
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.iterPages()) yield* page.data;
  }
}

/** The promise of a page. `for await (const item of client.runs.list())` iterates over the items of all pages. */
export class PagePromise<Item, Body extends PageBody>
  extends APIPromise<Page<Item, Body>>
  implements AsyncIterable<Item>
{
  constructor(send: Send<Body>, getItems: (body: Body) => readonly Item[], next: NextPage<Item, Body>) {
    super(async (read) => {
      const { data, response } = await send(read);
      return { data: new Page(data, read ? getItems(data) : [], next), response };
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    yield* await this;
  }
}
