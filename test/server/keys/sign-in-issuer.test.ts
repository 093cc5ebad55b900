import { expect, it } from "vitest";
import { readSignInIssuer } from "#server/sign-in-issuer.ts";

const settings = (issuer: string, clientId: string) => ({
  RUNYARD_OIDC_ISSUER: issuer,
  RUNYARD_OIDC_CLIENT_ID: clientId,
});

it("readSignInIssuer accepts https issuers, and others on this machine", () => {
  expect(readSignInIssuer({})).toBeUndefined();
  expect(readSignInIssuer(settings("https://issuer.example.com/realm", "web"))).toMatchObject({ clientId: "web" });
  expect(readSignInIssuer(settings("http://127.0.0.1:8080", "web"))).toMatchObject({ issuer: "http://127.0.0.1:8080" });
});

it.each([
  ["", "web", "--oidc-client-id needs --oidc-issuer"],
  ["https://issuer.example.com", "", "--oidc-issuer needs --oidc-client-id"],
  ["http://issuer.example.com", "web", "--oidc-issuer takes an https address"],
  ["https://issuer.example.com?x=1", "web", "--oidc-issuer takes an https address"],
  ["issuer", "web", "--oidc-issuer takes an https address"],
])("readSignInIssuer refuses the issuer %o with the client %o", (issuer, clientId, message) => {
  expect(() => readSignInIssuer(settings(issuer, clientId))).toThrow(message);
});
