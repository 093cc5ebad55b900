import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { client } from "../api/client.ts";
import { webSessionsQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { signOut } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

/** The browsers in which the person is signed in. */
export function SessionList() {
  const query = useQuery(webSessionsQuery);
  const navigate = useNavigate();
  const end = useMutation({
    mutationFn: (uid: string) => client.webSessions.revoke(uid),
    onSuccess: () => refreshQueries({ queryKey: webSessionsQuery.queryKey }),
  });
  const endAll = useMutation({
    mutationFn: async () => {
      await signOut(true);
      await navigate({ to: "/sign-in", search: {} });
    },
  });
  return (
    <section className="card" aria-label="Sessions">
      <div className="card-head">
        <h2>Sessions</h2>
        <Button small icon={<LogOut size={14} aria-hidden />} busy={endAll.isPending} onClick={() => endAll.mutate()}>
          Sign out everywhere
        </Button>
      </div>
      <InlineError error={end.error ?? endAll.error} />
      <Loaded query={query} rows={2}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty title="No sessions" />
          ) : (
            <ul className="item-list">
              {sessions.map(({ uid, browser, current, last_used_at, expires_at }) => (
                <li key={uid} className="item item-short">
                  <div className="item-main">
                    <span className="item-title">{revealHidden(browser ?? "Unknown browser")}</span>
                    <p className="item-facts">
                      <span>
                        Used <Time at={last_used_at} />
                      </span>
                      <span>
                        ends <Time at={expires_at} />
                      </span>
                    </p>
                  </div>
                  {current ? (
                    <span className="badge tone-good">This browser</span>
                  ) : (
                    <Button small onClick={() => end.mutate(uid)}>
                      Sign out
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
