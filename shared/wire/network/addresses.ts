import ipaddr from "ipaddr.js";

/**
 * How far an IP address leads: `public` to the internet, `private` to the machine's own network, `loopback` to the machine itself. `never` is what no request
 * of a run may go to: cloud metadata, link-local, multicast and reserved addresses, and IPv6 addresses that carry an IPv4 address to a translator or tunnel.
 */
export type AddressScope = "public" | "private" | "loopback" | "never";

/**
 * The endpoints by which clouds describe a machine, its credentials among them, as far as they are not link-local: Azure, Alibaba, Oracle; by IPv6 AWS, Google
 * and Scaleway.
 */
const METADATA = [
  "168.63.129.16/32",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "fd00:ec2::/32",
  "fd20:ce::/64",
  "fd00:42::/32",
];

const NAT64 = "64:ff9b::/96";

const SCOPES: Readonly<Record<string, AddressScope>> = {
  unicast: "public",
  private: "private",
  carrierGradeNat: "private",
  uniqueLocal: "private",
  loopback: "loopback",
  // Systems connect to the loopback interface where the address is 0.0.0.0 or ::.
  unspecified: "loopback",
};

/** Text that is not an IP address is `never`. An IPv4-mapped IPv6 address and a NAT64 address have the scope of the IPv4 address in them. */
export function scopeOfAddress(text: string): AddressScope {
  if (!ipaddr.isValid(text)) return "never";
  const address = parseAddress(text);
  if (METADATA.some((range) => isWithin(address, range))) return "never";
  const range = address.range();
  // The internet's IPv6 addresses are in 2000::/3; a range outside of it that the library does not know is reserved.
  if (address.kind() === "ipv6" && range === "unicast" && !isWithin(address, "2000::/3")) return "never";
  return SCOPES[range] ?? "never";
}

/** Normalizes an address: an IPv4 address also if IPv6 carries it, an IPv6 address without its zone. Other text is unchanged. */
export function toCanonicalAddress(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = parseAddress(text);
  return ipaddr.fromByteArray(address.toByteArray()).toString();
}

/** An IPv4 address where the text is one, an IPv4-mapped one or one by NAT64; else an IPv6 address. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const address = ipaddr.process(text);
  return isWithin(address, NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address;
}

/** Whether a URL names an IP address that no request of a run may go to, wherever the run executes. */
export function namesBlockedAddress(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  return ipaddr.isValid(host) && scopeOfAddress(host) === "never";
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, range: string): boolean {
  const [network, prefix] = ipaddr.parseCIDR(range);
  return address.kind() === network.kind() && address.match(network, prefix);
}
