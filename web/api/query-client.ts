import { type InvalidateQueryFilters, QueryClient } from "@tanstack/react-query";

/**
 * The client of the API retries by itself, so queries do not. Requests are sent also while the browser is offline: they fail at once
 * where they would otherwise wait, so that an action would take place when nobody expects it, and a service on this machine responds.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 15_000,
      networkMode: "always",
      refetchOnWindowFocus: "always",
      refetchOnReconnect: true,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

/**
 * Reads queries again after something has changed. A first read that is under way may be older than the change, so it is
 * cancelled and sent again: `invalidateQueries` alone would take its response as current.
 */
export async function refreshQueries(filters: InvalidateQueryFilters = {}): Promise<void> {
  const isFirstRead: InvalidateQueryFilters["predicate"] = (query) =>
    query.state.data === undefined && (filters.predicate?.(query) ?? true);
  await queryClient.cancelQueries({ ...filters, predicate: isFirstRead });
  await queryClient.invalidateQueries(filters);
}
