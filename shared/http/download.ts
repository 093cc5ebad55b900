import * as v from "valibot";
import { DownloadUrl } from "#shared/wire/artifact.ts";
import { one } from "./request.ts";
import { type EndpointReply, REDIRECT } from "./response.ts";

/** The query of an endpoint that redirects to a file. */
export const downloadQuery = {
  /** Whether to redirect to the URL. `false` returns it in the body instead. @default true */
  redirect: one(v.picklist(["true", "false"])),
};

/** The responses of such an endpoint. */
export const downloadReply = { 302: REDIRECT, 200: DownloadUrl } as const;

/** Redirects to a file, or returns its URL with `redirect=false`: a web page cannot read the target of a redirect. */
export const toDownloadResponse = (
  { redirect }: { readonly redirect?: "true" | "false" | undefined },
  body: DownloadUrl,
): EndpointReply<typeof downloadReply> =>
  redirect === "false" ? { status: 200, body } : { status: 302, location: body.download_url };
