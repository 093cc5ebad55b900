import { client } from "../../api/client.ts";
import { safeUrl } from "../../ui/safe-url.ts";

/**
 * Reads the content of a file.
 * @throws if the storage refuses it
 */
export async function readArtifact(uid: string, signal: AbortSignal): Promise<Response> {
  const { data } = await client.artifacts.retrieve(uid, { signal });
  const url = "download_url" in data ? safeUrl(data.download_url) : undefined;
  if (url === undefined) throw new Error("The file has no address that a browser may open.");
  // The address carries its own authorization.
  const response = await fetch(url, { signal, credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" });
  if (!response.ok) throw new Error(`The storage responded with ${response.status}.`);
  return response;
}
