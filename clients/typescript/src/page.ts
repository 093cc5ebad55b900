import { RunyardError } from "./errors.ts";
import type { PageInfo } from "./generated/types.ts";
import { APIPromise, type Send } from "./promise.ts";

/** What every list answers beside its items. */
export interface PageBody {
  page_info?: PageInfo;
}

/** Asks for the page that begins at the cursor. */
export type NextPage<Item, Body extends PageBody> = (cursor: string) => PagePromise<Item, Body>;

/** One page of a list. Iterating it goes on over all pages after it, each asked for when it is needed. */
export class Page<Item, Body extends PageBody> implements AsyncIterable<Item> {
  /** The items of this page. */
  readonly data: readonly Item[];
  /** The answer as it came. */
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

  /** The page after this one; throws where there is none. */
  getNextPage(): PagePromise<Item, Body> {
    if (this.#cursor === undefined) throw new RunyardError("This is the last page; hasNextPage() tells.");
    return this.#next(this.#cursor);
  }

  /** This page and all after it. */
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

/** The promise of a page; `for await (const item of client.runs.list())` walks all of them. */
export class PagePromise<Item, Body extends PageBody>
  extends APIPromise<Page<Item, Body>>
  implements AsyncIterable<Item>
{
  constructor(send: Send<Body>, itemsOf: (body: Body) => readonly Item[], next: NextPage<Item, Body>) {
    super(async (read) => {
      const { data, response } = await send(read);
      return { data: new Page(data, read ? itemsOf(data) : [], next), response };
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    yield* await this;
  }
}
