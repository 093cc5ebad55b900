import { safeUrl } from "../ui/safe-url.ts";

/**
 * Opens a signed URL of the storage, which is sent as an attachment, so the page stays.
 * @throws if a browser should not open the address
 */
export function openDownload(url: string): void {
  const address = safeUrl(url);
  if (address === undefined) throw new Error("The download has no address that a browser may open.");
  const link = document.createElement("a");
  link.href = address;
  link.rel = "noopener noreferrer";
  link.download = "";
  link.click();
}
