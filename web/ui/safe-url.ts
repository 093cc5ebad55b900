/** The address if a browser may open it: only https and http, with a host. */
export function safeUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !["https:", "http:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    return undefined;
  return url.href;
}
