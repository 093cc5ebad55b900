/**
 * The frame of all pages as HTML, and the place of their content. The build puts it into index.html, so that it is painted before any
 * script of the app has arrived; the first render replaces it by the same elements.
 */
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from "@tanstack/react-router";
import { renderToStaticMarkup } from "react-dom/server";
import { queryClient } from "../api/query-client.ts";
import { Frame } from "./shell.tsx";

/** The place of the person's name, which is not known yet. */
const ACCOUNT = (
  <span className="account">
    <span className="avatar" />
  </span>
);
const ROWS = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** Renders the frame. It has no style attributes, which the content security policy refuses. */
export function renderFrame(): string {
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: createRootRoute(), history });
  const html = renderToStaticMarkup(
    <QueryClientProvider client={queryClient}>
      <RouterContextProvider router={router}>
        <Frame account={ACCOUNT}>
          <div className="page" aria-busy>
            <p className="frame-title skeleton" />
            <div className="card">
              {ROWS.map((name) => (
                <div key={name} className="skeleton frame-row" />
              ))}
            </div>
          </div>
        </Frame>
      </RouterContextProvider>
    </QueryClientProvider>,
  );
  // React adds a preload of the icon, which helps only in a head.
  return html.replace(/^<link [^>]*>/, "");
}
