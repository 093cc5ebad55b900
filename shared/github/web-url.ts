/** The address at which a system has its pages and repositories, by that of its API. */
export const toWebUrl = (apiUrl: string): string =>
  apiUrl.replace(/\/api\/v\d+$/, "").replace(/^https:\/\/api\./, "https://");
