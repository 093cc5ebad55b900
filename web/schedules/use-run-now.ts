import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { client } from "../api/client.ts";

/** Creates a run of a schedule and opens it. */
export function useRunNow(scheduleId: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => client.schedules.run(scheduleId),
    onSuccess: ({ run_id }) => navigate({ to: "/runs/$runId", params: { runId: run_id } }),
  });
}
