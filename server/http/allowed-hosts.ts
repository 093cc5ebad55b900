import { isIP } from "node:net";
import { isLoopbackHost } from "../host/http/request-checks.ts";

/**
 * Creates the check of the Host header. A web page can let a name of its own resolve to the address of this server (DNS
 * rebinding); its requests have that name in their Host header. Names are therefore accepted only if they were configured.
 * @param publicUrl address of the server as its users know it
 * @param listens address that the server listens on; if it is not loopback, IP addresses are accepted too
 */
export function allowedHosts(publicUrl: string, listens: string): (host: string | undefined) => boolean {
  const { host: own } = new URL(publicUrl);
  const isPublic = !isLoopbackHost(listens);
  return (host) => {
    if (host === undefined) return false;
    if (host.toLowerCase() === own.toLowerCase() || isLoopbackHost(host)) return true;
    return isPublic && isIP(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")) !== 0;
  };
}

/** Whether other machines can use the server, by the address that it listens on or through a proxy. */
export const servesOtherMachines = (publicUrl: string, listens: string): boolean =>
  ![listens, new URL(publicUrl).host].every(isLoopbackHost);
