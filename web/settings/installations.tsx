import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitBranch, Plus } from "lucide-react";
import { useState } from "react";
import type { InstallationItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { installationsQuery } from "../github/installations-query.ts";
import { leaveForGithub } from "../github/pending-claim.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

interface InstallationsProps {
  readonly teamUid: string;
  readonly teamName: string;
}

/** The installations of the deployment's GitHub App that a team has claimed. */
export function Installations({ teamUid, teamName }: InstallationsProps) {
  const installations = installationsQuery(teamUid);
  const query = useQuery(installations);
  const [releasing, setReleasing] = useState<InstallationItem>();
  const install = useMutation({ mutationFn: () => leaveForGithub(teamUid) });
  const release = useMutation({
    mutationFn: (id: number) => client.github.release(String(id), { team: teamUid }),
    onSuccess: async () => {
      setReleasing(undefined);
      await refreshQueries({ queryKey: installations.queryKey });
    },
  });
  const close = () => {
    setReleasing(undefined);
    release.reset();
  };
  return (
    <section className="card" aria-label={`GitHub installations of ${revealHidden(teamName)}`}>
      <div className="card-head">
        <h2>{revealHidden(teamName)}</h2>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          busy={install.isPending || install.isSuccess}
          onClick={() => install.mutate()}
        >
          Install on GitHub
        </Button>
      </div>
      <InlineError error={install.error} />
      <Loaded query={query} rows={1}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon={<GitBranch size={26} aria-hidden />} title="No installations">
              <p>An installation of the GitHub App opens repositories to the team's runs, skills and triggers.</p>
            </Empty>
          ) : (
            <ul className="item-list">
              {items.map((item) => (
                <InstallationRow key={item.installation_id} item={item} onRelease={() => setReleasing(item)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <p className="card-body faint">
        Is the App installed already? <Link to="/github">Claim that installation</Link>.
      </p>
      <Confirm
        open={releasing !== undefined}
        onClose={close}
        title={`Release the installation on ${releasing?.account.login ?? ""}?`}
        text="The team's runs, skills and triggers no longer use it. The App stays installed on GitHub, and another team can claim it."
        action="Release the installation"
        busy={release.isPending}
        error={release.error === null ? undefined : describeError(release.error).text}
        onConfirm={() => releasing !== undefined && release.mutate(releasing.installation_id)}
      />
    </section>
  );
}

function InstallationRow({ item, onRelease }: { readonly item: InstallationItem; readonly onRelease: () => void }) {
  const login = revealHidden(item.account.login);
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title">{login}</span>
        <p className="item-facts">
          <span>{item.repository_selection === "all" ? "All repositories" : "Selected repositories"}</span>
          <span>
            claimed <Time at={item.claimed_at} />
          </span>
          <span>installation {item.installation_id}</span>
        </p>
      </div>
      <Button small look="danger" aria-label={`Release ${login}`} onClick={onRelease}>
        Release
      </Button>
    </li>
  );
}
