import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { readStored, store } from "../api/browser-storage.ts";
import { client } from "../api/client.ts";
import { refreshQueries } from "../api/query-client.ts";
import { sessionQuery, signIn } from "../api/session.ts";
import { Button, CopyButton } from "../ui/button.tsx";
import { useTitle } from "../ui/page.tsx";
import { InlineError } from "../ui/status.tsx";

const route = getRouteApi("/invitations/$token");

const ATTEMPT = "runyard-invitation";

/**
 * Returns the Idempotency-Key of this tab for an invitation. The same one is sent again where a response is lost, also after the
 * page was loaded again, because no other request gets the first key of the account.
 */
function keepAttempt(token: string): string {
  const [keptToken, kept] = (readStored("sessionStorage", ATTEMPT) ?? "").split(" ");
  if (keptToken === token && kept !== undefined) return kept;
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join("-");
  store("sessionStorage", ATTEMPT, `${token} ${key}`);
  return key;
}

/** Accepts an invitation: a signed-in person joins the team; others get an account with a key. */
export function InvitationPage() {
  useTitle("Invitation");
  const { token } = route.useParams();
  const navigate = useNavigate();
  const { data: session, isPending } = useQuery(sessionQuery);
  const [key, setKey] = useState<string>();
  const accept = useMutation({
    mutationFn: async () => {
      const accepted = await client.invitations.accept(token, { idempotencyKey: keepAttempt(token) });
      if (!("key" in accepted) || typeof accepted.key !== "string") {
        await refreshQueries({ queryKey: sessionQuery.queryKey });
        return navigate({ to: "/runs", search: {} });
      }
      // Shown whatever becomes of the sign-in.
      setKey(accepted.key);
      await signIn({ key: accepted.key });
      store("sessionStorage", ATTEMPT, undefined);
    },
  });
  return (
    <main className="sign-in">
      <section className="sign-in-card">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>{key === undefined ? "Join a team" : "Welcome"}</h1>
        {key === undefined ? (
          <>
            <p className="muted">
              {session
                ? `You join as ${session.user.email}.`
                : "You were invited to a team of Runyard. If you have an account, sign in first."}
            </p>
            <InlineError error={accept.error} />
            <Button look="primary" busy={accept.isPending || isPending} onClick={() => accept.mutate()}>
              Accept the invitation
            </Button>
          </>
        ) : (
          <>
            <p className="muted">This is your API key. It is shown this once, and you need it to sign in again.</p>
            <div className="secret">
              <code>{key}</code>
              <CopyButton text={key} label="Copy the key" />
            </div>
            <InlineError error={accept.error} />
            <Button look="primary" busy={accept.isPending} onClick={() => void navigate({ to: "/runs", search: {} })}>
              Continue
            </Button>
          </>
        )}
      </section>
    </main>
  );
}
