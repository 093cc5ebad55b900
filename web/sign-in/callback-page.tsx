import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { signIn } from "../api/session.ts";
import { Spinner } from "../ui/icons.tsx";
import { useTitle } from "../ui/page.tsx";
import { takePendingSignIn } from "./oidc.ts";
import { toSafePath } from "./safe-path.ts";

const route = getRouteApi("/sign-in/callback");

const INTERRUPTED = "This sign-in was started in another tab, or completed already. Sign in again.";

/** Completes a sign-in at the issuer, which redirects to this page. */
export function CallbackPage() {
  useTitle("Sign in");
  const { code, state, error, error_description } = route.useSearch();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string>();
  const isUsed = useRef(false);
  useEffect(() => {
    // The code works once, and effects may run twice.
    if (isUsed.current) return;
    isUsed.current = true;
    const complete = async () => {
      if (error !== undefined) return setProblem(`The issuer refused: ${error_description ?? error}`);
      const pending = state === undefined ? undefined : await takePendingSignIn(state);
      if (code === undefined || state === undefined || pending === undefined) return setProblem(INTERRUPTED);
      const { token } = await client.webSessions.exchangeCode({ code, state, code_verifier: pending.verifier });
      await signIn({ token });
      await navigate({ href: toSafePath(pending.to), replace: true });
    };
    void complete().catch((refusal: unknown) => setProblem(describeError(refusal).text));
  }, [code, state, error, error_description, navigate]);
  if (problem === undefined) {
    return (
      <main className="sign-in">
        <h1 className="visually-hidden">Sign in</h1>
        <Spinner label="Signing in" />
      </main>
    );
  }
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <h1>You are not signed in</h1>
        <p className="form-error" role="alert">
          {problem}
        </p>
        <p>
          <Link to="/sign-in">Back to the sign-in page</Link>
        </p>
      </div>
    </main>
  );
}
