import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import * as v from "valibot";
import type { InstallationItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { isRefused } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Spinner } from "../ui/icons.tsx";
import { Page } from "../ui/page.tsx";
import { InlineError } from "../ui/status.tsx";
import { GithubSearch } from "./github-search.ts";
import { installationsQuery } from "./installations-query.ts";
import { forgetPendingClaim, leaveForGithub, readPendingClaim } from "./pending-claim.ts";

const route = getRouteApi("/shell/github");

interface Claim {
  readonly team: string;
  readonly installation_id: number;
}

/** The page that GitHub redirects to after the installation of the App: claims the installation for a team. */
export function GithubPage() {
  return (
    <Page title="Claim a GitHub installation" narrow>
      <section className="card" aria-label="Claim">
        <div className="card-body stack">
          <ClaimSteps />
        </div>
      </section>
    </Page>
  );
}

const toText = (value: string | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

function ClaimSteps() {
  // Not by the route, whose script is part of the first page.
  const search = v.parse(GithubSearch, route.useSearch());
  const [code, state] = [toText(search.code), toText(search.state)];
  const teams = useMe().teams.filter(({ role }) => role === "admin");
  const navigate = useNavigate();
  const [pending] = useState(() => readPendingClaim(state));
  const claim = useMutation({
    mutationFn: ({ team, installation_id }: Claim) =>
      client.github.claim({ installation_id, state: state ?? "", code: code ?? "" }, { team }),
    onSuccess: async ({ scope }) => {
      forgetPendingClaim();
      await refreshQueries({ queryKey: installationsQuery(scope.uid).queryKey });
      // The code is used up, so the address need not keep it.
      await navigate({ to: "/github", search: {}, replace: true });
    },
  });
  const { mutate } = claim;
  const team = pending?.team ?? (teams.length === 1 ? teams[0]?.uid : undefined);
  const id = search.installation_id ?? pending?.installation_id;
  // Only a claim that this tab has begun continues without a click.
  const isOwn = pending !== undefined && code !== undefined && search.error === undefined;
  const isSent = useRef(false);
  useEffect(() => {
    // The code works once, and effects may run twice.
    if (isSent.current || !isOwn || team === undefined || id === undefined) return;
    isSent.current = true;
    mutate({ team, installation_id: id });
  }, [isOwn, team, id, mutate]);

  if (claim.isSuccess) return <Claimed installation={claim.data} />;
  if (claim.isPending) return <Spinner label="Claiming the installation" />;
  if (teams.length === 0)
    return <Problem>Only admins of a team can claim installations. Ask an admin of your team.</Problem>;
  if (search.error !== undefined) {
    const reason = toText(search.error_description ?? search.error) ?? "";
    return <Problem again={id}>GitHub refused: {revealHidden(reason).slice(0, 500)}</Problem>;
  }
  if (search.setup_action === "request") {
    return (
      <Problem>
        An owner of the organization must approve the installation on GitHub first. An owner who is an admin of your
        team can claim it after that.
      </Problem>
    );
  }
  if (claim.error !== null && isRefused(claim.error)) {
    return (
      <>
        <InlineError error={claim.error} />
        <BeginAgain installationId={id} />
      </>
    );
  }
  return (
    <>
      {state !== undefined && code === undefined && (
        <p>GitHub did not say who has installed the App, so you have to authorize it.</p>
      )}
      {state === undefined && code !== undefined && (
        <p>This installation was not started in Runyard, so GitHub has to confirm again who you are.</p>
      )}
      <InlineError error={claim.error} />
      <ClaimForm
        team={team}
        installationId={id}
        {...(code !== undefined && state !== undefined ? { onClaim: mutate } : {})}
      />
    </>
  );
}

/** Why there is no claim, with a way to begin another one if `again` names the installation. */
const Problem = ({ children, again }: { readonly children: ReactNode; readonly again?: number | undefined }) => (
  <>
    <p className="form-error" role="alert">
      {children}
    </p>
    {again === undefined ? <ToInstallations /> : <BeginAgain installationId={again} />}
  </>
);

const BeginAgain = ({ installationId }: { readonly installationId: number | undefined }) => (
  <p>
    {/* What GitHub has returned belongs to the claim that failed, so the page is loaded again. */}
    <a href={installationId === undefined ? "/github" : `/github?installation_id=${installationId}`}>
      Begin another claim
    </a>
  </p>
);

const ToInstallations = () => (
  <p>
    <Link to="/settings/$section" params={{ section: "github" }}>
      Installations of your teams
    </Link>
  </p>
);

function Claimed({ installation }: { readonly installation: InstallationItem }) {
  const { account, repository_selection, scope } = installation;
  const team = useMe().teams.find(({ uid }) => uid === scope.uid)?.name ?? scope.uid;
  return (
    <>
      <p role="status">
        The installation on <strong>{revealHidden(account.login)}</strong> belongs to the team{" "}
        <strong>{revealHidden(team)}</strong>. It opens{" "}
        {repository_selection === "all" ? "all repositories of the account" : "the repositories selected on GitHub"}.
      </p>
      <ToInstallations />
    </>
  );
}

interface ClaimFormProps {
  readonly team: string | undefined;
  readonly installationId: number | undefined;
  /** Completes the claim; without it, GitHub has to say first who the person is. */
  readonly onClaim?: (claim: Claim) => void;
}

/** Asks for what GitHub did not say: the team, and the id of the installation. */
function ClaimForm({ team: initialTeam, installationId, onClaim }: ClaimFormProps) {
  const teams = useMe().teams.filter(({ role }) => role === "admin");
  const [team, setTeam] = useState(initialTeam ?? teams[0]?.uid ?? "");
  const [text, setText] = useState(installationId === undefined ? "" : String(installationId));
  const [error, setError] = useState<string>();
  const leave = useMutation({ mutationFn: (claim: Claim) => leaveForGithub(claim.team, claim.installation_id) });
  const submit = () => {
    if (!/^[1-9]\d{0,14}$/.test(text.trim())) {
      return setError("Write the number at the end of the address of the installation's page on GitHub.");
    }
    setError(undefined);
    const claim = { team, installation_id: Number(text) };
    if (onClaim === undefined) leave.mutate(claim);
    else onClaim(claim);
  };
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {teams.length > 1 && (
        <SelectField label="Team" value={team} onChange={(event) => setTeam(event.target.value)}>
          {teams.map(({ uid, name }) => (
            <option key={uid} value={uid}>
              {revealHidden(name)}
            </option>
          ))}
        </SelectField>
      )}
      <TextField
        label="Installation"
        inputMode="numeric"
        value={text}
        error={error}
        hint="The number at the end of the address of the installation's page on GitHub."
        onChange={(event) => setText(event.target.value)}
      />
      <InlineError error={leave.error} />
      <div className="row">
        <Button type="submit" look="primary" busy={leave.isPending || leave.isSuccess}>
          {onClaim === undefined ? "Continue on GitHub" : "Claim the installation"}
        </Button>
      </div>
    </form>
  );
}
