import http, { type ServerResponse } from "node:http";
import path from "node:path";
import { serveWebPage } from "../../../host/http/web-page.ts";
import { root } from "../../../scripts/run-command.ts";
import type { FakeRun } from "./fake-run.ts";

export const KEY = "ryp_testtesttesttesttesttesttesttesttesttest";

export const webDirectory = path.join(root, "web");

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The page, served as the front door serves it, before an API that does what a test says. */
export class Site {
  origin = "";
  /** Where files are downloaded from: another origin, as on AWS. */
  storage = "";
  runs: FakeRun[] = [];
  /** Runs in one page of the list. */
  pageSize = 20;
  acceptedKey = KEY;
  /** A service that answers in place of the script, to every GET below /api/v1. */
  service: ((target: string, key: string | undefined) => Promise<Answer>) | undefined;
  /** Paths with queries that were asked for, in order. */
  asked: string[] = [];
  /** Answers that the next calls whose path ends so get instead of their own. */
  #instead: { ending: string; answer: Answer }[] = [];
  #servers: http.Server[] = [];

  async start(): Promise<void> {
    this.storage = await this.#listen((url, response) => {
      const filename = path.basename(url.pathname);
      response.writeHead(200, {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="${filename}"`,
      });
      response.end(`content of ${filename}`);
    });
    this.origin = await this.#listen((url, response, request) => {
      if (!url.pathname.startsWith("/api/")) {
        void serveWebPage(request.url ?? "/", request.method ?? "GET", response, webDirectory);
        return;
      }
      const target = `${url.pathname.replace("/api/v1", "")}${url.search}`;
      this.asked.push(target);
      const key = request.headers.authorization?.replace("Bearer ", "");
      const gone = new AbortController();
      response.on("close", () => gone.abort());
      const answer = this.service?.(target, key) ?? this.#answer(url, key === this.acceptedKey, gone.signal);
      void answer.then((it) => send(response, it));
    });
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  reset(): void {
    this.runs = [];
    this.pageSize = 20;
    this.acceptedKey = KEY;
    this.service = undefined;
    this.asked = [];
    this.#instead = [];
  }

  /** Makes the next `times` calls whose path ends so get another answer. */
  fail(ending: string, answer: Answer, times = 1): void {
    for (let count = 0; count < times; count++) this.#instead.push({ ending, answer });
  }

  async #answer(url: URL, accepted: boolean, gone: AbortSignal): Promise<Answer> {
    if (!accepted) return problem(401, "Authentication required", "authentication_required");
    const wanted = url.pathname.replace("/api/v1", "");
    const index = this.#instead.findIndex(({ ending }) => wanted.endsWith(ending));
    const [instead] = index < 0 ? [] : this.#instead.splice(index, 1);
    if (instead !== undefined) return instead.answer;
    if (wanted === "/agent/runs") return this.#list(url.searchParams);
    const [, runId = "", rest] = /^\/agent\/runs\/([^/]+)(?:\/(\w+))?$/.exec(wanted) ?? [];
    const run = this.runs.find(({ item }) => item.run_id === runId);
    if (run !== undefined && rest === undefined) return { status: 200, body: run.item };
    if (run !== undefined && rest === "events")
      return { status: 200, body: await run.eventsAfter(url.searchParams, gone) };
    if (run !== undefined && rest === "transcript") return this.#transcript(url);
    const [, uid] = /^\/agent\/artifacts\/([^/]+)$/.exec(wanted) ?? [];
    const artifact = this.runs
      .flatMap(({ item }) => item.artifacts ?? [])
      .filter((one) => one.artifact_type === "FILE")
      .find(({ data }) => data.artifact_uid === uid);
    if (artifact === undefined) return problem(404, "Resource not found", "resource_not_found");
    const { mime_type, ...data } = artifact.data;
    const signed = { download_url: `${this.storage}/${data.filename}`, expires_at: "2026-05-18T19:15:00.000Z" };
    return {
      status: 200,
      body: { ...artifact, artifact_uid: uid, data: { ...data, ...signed, content_type: mime_type } },
    };
  }

  #list(query: URLSearchParams): Answer {
    const from = Number(query.get("cursor") ?? "0");
    const to = from + this.pageSize;
    const more = to < this.runs.length;
    const runs = this.runs.slice(from, to).map(({ item }) => item);
    return {
      status: 200,
      body: { runs, page_info: { has_next_page: more, ...(more && { next_cursor: String(to) }) } },
    };
  }

  #transcript(url: URL): Answer {
    const address = `${this.storage}/transcript.jsonl`;
    if (url.searchParams.get("redirect") !== "false") {
      return { status: 302, headers: { location: address } };
    }
    return { status: 200, body: { download_url: address, expires_at: "2026-05-18T19:15:00.000Z" } };
  }

  async #listen(answer: (url: URL, response: ServerResponse, request: http.IncomingMessage) => void): Promise<string> {
    const server = http.createServer((request, response) => {
      answer(new URL(request.url ?? "/", "http://site.test"), response, request);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("the server has no address");
    return `http://127.0.0.1:${address.port}`;
  }
}

export function problem(status: number, error: string, code: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
    body: { title: error, status, error, error_code: code, trace_id: "1-trace" },
  };
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
