import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { isSignedOut } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { sessionQuery, signIn } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Spinner } from "../ui/icons.tsx";
import { useTitle } from "../ui/page.tsx";
import { OidcSignIn } from "./oidc-sign-in.tsx";
import { toSafePath } from "./safe-path.ts";

const route = getRouteApi("/sign-in");

export function SignInPage() {
  useTitle("Sign in");
  const { to, token } = route.useSearch();
  const [linkError, setLinkError] = useState<string>();
  if (token !== undefined && linkError === undefined)
    return <LinkSignIn token={token} to={to} onError={setLinkError} />;
  return <KeySignIn to={to} linkError={linkError} />;
}

interface LinkSignInProps {
  readonly token: string;
  readonly to: string | undefined;
  readonly onError: (text: string) => void;
}

/**
 * Signs in with the token of a one-time link. A browser that is signed in asks first: any page can lead it to a link of somebody else's
 * account, in which the person would go on working.
 */
function LinkSignIn(props: LinkSignInProps) {
  const { data: session, isPending } = useQuery(sessionQuery);
  const [isConfirmed, setConfirmed] = useState(false);
  // As it was when the page was opened: the sign-in itself changes it.
  const asks = useRef<boolean>(undefined);
  if (!isPending) asks.current ??= Boolean(session);
  if (asks.current === undefined) return <SigningIn />;
  if (!asks.current || isConfirmed) return <TokenSignIn {...props} />;
  return (
    <main className="sign-in">
      <section className="sign-in-card">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Use this sign-in link?</h1>
        <p className="muted">
          You are signed in as {session?.user.email}. The link signs you in to the account that it was created for. If
          you did not create it yourself, stay in your account.
        </p>
        <Button look="primary" onClick={() => setConfirmed(true)}>
          Sign in with the link
        </Button>
        <p>
          <Link to="/runs">Stay in your account</Link>
        </p>
      </section>
    </main>
  );
}

function TokenSignIn({ token, to, onError }: LinkSignInProps) {
  const navigate = useNavigate();
  const isUsed = useRef(false);
  useEffect(() => {
    // The token works once, and effects may run twice.
    if (isUsed.current) return;
    isUsed.current = true;
    signIn({ token }).then(
      () => navigate({ href: toSafePath(to), replace: true }),
      (error: unknown) =>
        onError(
          isSignedOut(error)
            ? "This link was used already or has expired. `runyard login-link` prints another one."
            : describeError(error).text,
        ),
    );
  }, [token, to, navigate, onError]);
  return <SigningIn />;
}

const SigningIn = () => (
  <main className="sign-in">
    <h1 className="visually-hidden">Sign in</h1>
    <Spinner label="Signing in" />
  </main>
);

interface KeySignInProps {
  readonly to: string | undefined;
  readonly linkError: string | undefined;
}

function KeySignIn({ to, linkError }: KeySignInProps) {
  const navigate = useNavigate();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    if (!/^[\x21-\x7e]+$/.test(trimmed)) {
      setError(trimmed === "" ? "Paste a key." : "This is not an API key: keys have no spaces and no accents.");
      return;
    }
    setBusy(true);
    try {
      await signIn({ key: trimmed });
      await navigate({ href: toSafePath(to), replace: true });
    } catch (refusal) {
      setError(
        isSignedOut(refusal)
          ? "This key is not valid. It may be mistyped, expired or revoked."
          : describeError(refusal).text,
      );
      setBusy(false);
    }
  };
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={(event) => void submit(event)} noValidate>
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to Runyard</h1>
        {linkError !== undefined && (
          <p className="form-error" role="alert">
            {linkError}
          </p>
        )}
        <p className="muted">
          Use a personal API key, or the one-time link that the server prints when it starts on one machine.
        </p>
        <TextField
          label="API key"
          type="password"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          placeholder="ryp_…"
          value={key}
          error={error}
          onChange={(event) => setKey(event.target.value)}
        />
        <Button type="submit" look="primary" busy={busy}>
          Sign in
        </Button>
        <OidcSignIn to={to} />
      </form>
    </main>
  );
}
