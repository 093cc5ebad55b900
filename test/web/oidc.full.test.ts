import { afterAll, describe, expect, it } from "vitest";
import { OidcIssuer } from "../support/oidc-issuer.ts";
import { blockStorage } from "./support/browser.ts";
import { useWebApp } from "./support/web-app.ts";

let issuer: OidcIssuer;
const app = useWebApp(async () => {
  issuer = await OidcIssuer.start();
  issuer.person = { sub: "user-1", email: "local@example.com", email_verified: true };
  return { RUNYARD_OIDC_ISSUER: issuer.url, RUNYARD_OIDC_CLIENT_ID: "runyard" };
});
afterAll(() => issuer?.[Symbol.asyncDispose]());

describe("signing in with an OIDC issuer", () => {
  it("redirects to the issuer and back to the requested page", async () => {
    const { page, complaints } = await app.openSignedOut("/settings");
    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(issuer.url)) requests.push(request.resourceType());
    });
    await page.getByRole("button", { name: `Sign in with ${new URL(issuer.url).host}` }).click();
    await page.getByText("local@example.com").first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings");
    expect(page.url()).not.toContain("code");
    // The policy lets the page navigate to the issuer, and send it nothing.
    expect(requests).toEqual(["document"]);
    const policy = (await page.request.get(new URL("/sign-in", app.baseUrl).href)).headers()["content-security-policy"];
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toContain(issuer.url);
    expect(complaints).toEqual([]);
  });

  it("starts a session that is listed, and is refused after it is revoked in another browser", async () => {
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const { page } = await app.openSignedOut("/settings", { userAgent });
    await page.getByRole("button", { name: "Sign in with" }).click();
    const sessions = (of: typeof page) => of.getByRole("region", { name: "Sessions" }).getByRole("listitem");
    await sessions(page).filter({ hasText: "Firefox on Linux" }).getByText("This browser").waitFor();
    const other = await app.open("/settings");
    const listed = sessions(other.page).filter({ hasText: "Firefox on Linux" });
    await listed.getByRole("button", { name: "Sign out" }).click();
    await listed.waitFor({ state: "detached" });
    const refused = await page.request.get(`${app.baseUrl}/agent/runs`);
    expect(refused.status()).toBe(401);
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
    await sessions(other.page).getByText("This browser").waitFor();
  });

  it("refuses a response of the issuer that belongs to another tab, and shows why the issuer refuses", async () => {
    const { page } = await app.openSignedOut("/sign-in/callback?code=stolen&state=of-somebody-else");
    await page.getByText("This sign-in was started in another tab").waitFor();
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.getByRole("heading", { name: "Sign in to Runyard" }).waitFor();
    const refused = await app.openSignedOut("/sign-in/callback?error=access_denied&error_description=Not+you");
    await refused.page.getByText("The issuer refused: Not you").waitFor();
    expect(issuer.countOf("/token")).toBe(2);
  });

  it("says what is missing in a browser that blocks storage", async () => {
    const { page, complaints } = await app.openSignedOut("/sign-in");
    await blockStorage(page);
    await page.reload();
    await page.getByRole("button", { name: "Sign in with" }).click();
    await page.getByText("let this site store data").waitFor();
    await page.goto(new URL("/sign-in/callback?code=c&state=s", page.url()).href);
    await page.getByText("This sign-in was started in another tab").waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows why a person may not sign in", async () => {
    issuer.person = { sub: "user-2", email: "eve@example.com", email_verified: true };
    const { page } = await app.openSignedOut("/sign-in");
    await page.getByRole("button", { name: "Sign in with" }).click();
    await page.getByText("this address was not invited").waitFor();
  });
});
