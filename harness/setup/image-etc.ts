import { quoteForShell } from "../commands/shell-quote.ts";

/** The files of /etc that the harness replaces in a root of an image that commands can change. */
const listReplaced = (nameServer: string | undefined) => ({
  hosts: "127.0.0.1 localhost runyard\n::1 localhost",
  "resolv.conf": nameServer === undefined ? "" : `nameserver ${nameServer}`,
});

/** Those that it writes only if the image has none: what an image has stays, such as its users. */
const DEFAULTS = {
  passwd: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false",
  group: "root:x:0:\nnogroup:x:65534:",
  "nsswitch.conf": "hosts: files dns",
};

const APT = "apt";

/** The names in /etc of what the harness writes. */
export const ETC_NAMES: readonly string[] = [...Object.keys(listReplaced(undefined)), ...Object.keys(DEFAULTS), APT];

/** Builds the commands that write these files. They run in the sandbox, since files of the image may be links. */
export function buildEtcScript(nameServer: string | undefined): string {
  const put = ([name, text]: readonly [string, string]) => `put ${name} ${quoteForShell(text)}`;
  return [
    "(cd /etc",
    'put() { rm -f "$1" 2>/dev/null || :; echo "$2" > "$1"; }',
    ...Object.entries(listReplaced(nameServer)).map(put),
    ...Object.entries(DEFAULTS).map(([name, text]) => `[ -s ${name} ] || ${put([name, text])}`),
    `if [ -d ${APT}/apt.conf.d ]; then echo 'APT::Sandbox::User "root";' > ${APT}/apt.conf.d/90runyard; fi) || :`,
  ].join("\n");
}
