/** Products by the token that names them; the first that matches counts, since browsers also name those that they descend from. */
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
] as const;

const SYSTEMS = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** Names a browser and its system, such as `Firefox on Linux`, by a User-Agent header. */
export function describeBrowser(userAgent: string | undefined): string | undefined {
  const [, browser] = BROWSERS.find(([pattern]) => pattern.test(userAgent ?? "")) ?? [];
  const [, system] = SYSTEMS.find(([pattern]) => pattern.test(userAgent ?? "")) ?? [];
  if (browser === undefined) return system;
  return system === undefined ? browser : `${browser} on ${system}`;
}
