import { QueryClient } from "@tanstack/react-query";

/** The client of the API retries by itself, so queries do not. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 15_000, refetchOnWindowFocus: "always" },
    mutations: { retry: false },
  },
});
