/** Headers of public responses, which clients and proxies may cache for minutes. */
export const PUBLIC_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "public, max-age=300",
  "x-content-type-options": "nosniff",
};
