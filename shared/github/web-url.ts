/** Derives the address of a system's pages and repositories from the address of its API. */
export const toWebUrl = (apiUrl: string): string =>
  apiUrl.replace(/\/api\/v\d+$/, "").replace(/^https:\/\/api\./, "https://");
