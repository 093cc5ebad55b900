interface Page {
  readonly page_info?: { readonly has_next_page: boolean; readonly next_cursor?: string };
}

/** How a query of several pages begins and goes on. The first page has no cursor. */
export const byCursor = {
  initialPageParam: firstCursor(),
  getNextPageParam: ({ page_info }: Page) => (page_info?.has_next_page ? page_info.next_cursor : undefined),
};

function firstCursor(): string | undefined {
  return undefined;
}
