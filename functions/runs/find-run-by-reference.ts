import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { required } from "#shared/http/request.ts";
import { findReferringRun } from "#shared/runs/references/find-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";

/**
 * GET /agent/run-by-external-reference: finds the newest visible run that refers to a URL. It is the URL of the issue, pull
 * request or thread whose event started the run, or of a pull request or external reference among its artifacts, and is
 * compared as it is. What earlier releases have recorded is not found.
 */
export const findRunByReference = endpoint({
  request: {
    query: {
      /** The URL that the run refers to, percent-encoded. */
      url: required(textOfBytes(2048, 1)),
    },
  },
  reply: {
    200: v.object({
      /** The run's id. */
      run_id: v.string(),
    }),
  },
  errors: ["resource_not_found"],
  async run({ query, principal }, ports: RunPorts) {
    if (principal.kind === "run") {
      throw new RunyardError("not_authorized", { detail: "a run's key reads its own run and its descendants by id" });
    }
    return { status: 200, body: { run_id: await findReferringRun(query.url, principal, ports) } };
  },
});
