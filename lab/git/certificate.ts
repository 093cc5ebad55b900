import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a server at 127.0.0.1 identifies itself with. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** The file of the certificate, which clients are told to trust. */
  readonly file: string;
}

/** Creates a certificate for 127.0.0.1 in a directory. */
export function createCertificate(folder: string): Certificate {
  const [key, file] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...kind, ...names, "-keyout", key, "-out", file], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(file, "utf8"), file };
}
