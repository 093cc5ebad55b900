import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { signInMethodsQuery } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { startOidcSignIn } from "./oidc.ts";

/** The button that leads to the deployment's OIDC issuer; nothing where there is none. */
export function OidcSignIn({ to }: { readonly to: string | undefined }) {
  const { data } = useQuery(signInMethodsQuery);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const oidc = data?.oidc;
  if (oidc === undefined) return null;
  const start = () => {
    setBusy(true);
    void startOidcSignIn(oidc.authorization_url, to).catch(() => {
      // Browsers have the digests that this needs on https and on this machine only.
      setBusy(false);
      setFailed(true);
    });
  };
  return (
    <>
      <Button type="button" busy={busy} onClick={start}>
        Sign in with {new URL(oidc.issuer).host}
      </Button>
      {failed && (
        <p className="form-error" role="alert">
          The browser cannot sign in with an issuer on this page. Open it over https, and let this site store data.
        </p>
      )}
    </>
  );
}
