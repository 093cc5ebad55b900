/**
 * The Content Security Policy of the web app, which shows text of agents: only its own files may run, and only its own origin and the
 * bucket's may be requested.
 */
export const contentSecurityPolicy = (filesOrigin: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' ${filesOrigin}; font-src 'self'; ` +
  `connect-src 'self' ${filesOrigin}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Headers of every file of the web app, besides its policy, as CloudFront sends them too. */
export const WEB_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
  "cross-origin-opener-policy": "same-origin",
};
