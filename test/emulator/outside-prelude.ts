/** Loaded before the code of a function: what it requests by HTTPS goes to the stand-in at OUTSIDE_URL, which gets the URL as a header. */
import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

const outside = process.env["OUTSIDE_URL"] ?? "";
const fetchAnything = fetch;

Object.assign(https, {
  request(
    url: string | URL,
    { method, headers, signal }: RequestOptions,
    callback: (response: IncomingMessage) => void,
  ) {
    const options = { agent: false, headers: { ...headers, "x-url": String(url) } };
    return http.request(outside, { ...options, ...(method && { method }), ...(signal && { signal }) }, callback);
  },
});
syncBuiltinESMExports();

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  if (!request.url.startsWith("https:")) return fetchAnything(request);
  const headers = new Headers(request.headers);
  headers.set("x-url", request.url);
  const { method } = request;
  return fetchAnything(outside, { method, headers, body: method === "GET" ? null : await request.text() });
};
