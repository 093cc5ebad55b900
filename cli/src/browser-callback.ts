import { createServer, type RequestListener } from "node:http";
import { Problem } from "./problem.ts";

export interface CallbackOptions<T> {
  /** Returns what is waited for, from the query of a redirect; undefined refuses the redirect with a 404. */
  readonly read: (query: URLSearchParams) => T | undefined;
  /** Returns the page at the root, from the URL that it redirects to in the end. @default none */
  readonly page?: (redirectUrl: string) => string;
}

/** A server on this machine, to which another system redirects the browser. */
export interface Callback<T> extends AsyncDisposable {
  /** Its address, without a slash at its end. */
  readonly url: string;
  readonly redirectUrl: string;
  /** Waits for the redirect. */
  receive(timeoutMs: number, timeoutMessage: string): Promise<T>;
}

/** Listens on this machine for a redirect of the browser. */
export async function listenForCallback<T>(port: number, options: CallbackOptions<T>): Promise<Callback<T>> {
  const server = createServer();
  const redirect = new Promise<T>((resolve) => server.on("request", toListener(options, resolve)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Problem(`Cannot listen on port ${port}: ${error.message}`)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
  return {
    url,
    redirectUrl: `${url}${CALLBACK}`,
    async receive(timeoutMs, timeoutMessage) {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Problem(timeoutMessage)), timeoutMs);
      });
      return await Promise.race([redirect, timeout]).finally(() => clearTimeout(timer));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const CALLBACK = "/callback";

function toListener<T>({ read, page }: CallbackOptions<T>, resolve: (value: T) => void): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const respond = (status: number, type: string, text: string) =>
      response.writeHead(status, { "content-type": `text/${type}; charset=utf-8`, connection: "close" }).end(text);
    // The browser may reach this machine by a forwarded port.
    if (pathname === "/" && page !== undefined)
      return void respond(200, "html", page(`http://${request.headers.host}${CALLBACK}`));
    const value = pathname === CALLBACK ? read(searchParams) : undefined;
    if (value === undefined) return void respond(404, "plain", "Nothing on this machine waits for this request.");
    respond(200, "plain", "You can close this page and return to the terminal.");
    resolve(value);
  };
}
