import "../styles/run.css";
import "../styles/text.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { IdentityItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { environmentsQuery, identityKeysQuery, identityQuery } from "../api/queries.ts";
import { queryClient, refreshQueries } from "../api/query-client.ts";
import { HealthCard } from "../health/run-health.tsx";
import { KeyList } from "../keys/key-list.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Markdown } from "../ui/markdown/markdown.tsx";
import { Page, useTitle } from "../ui/page.tsx";
import { Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { AgentEditor } from "./agent-editor.tsx";
import { TrustRules } from "./trust-rules.tsx";

const route = getRouteApi("/shell/agents/$agentUid");

export function AgentPage() {
  const { agentUid } = route.useParams();
  const query = useQuery(identityQuery(agentUid));
  useTitle(revealHidden(query.data?.name ?? "Agent"));
  return <Loaded query={query}>{(agent) => <LoadedAgent agent={agent} />}</Loaded>;
}

function LoadedAgent({ agent }: { readonly agent: IdentityItem }) {
  const keys = identityKeysQuery(agent.uid);
  const query = useQuery(keys);
  const environments = useQuery({ ...environmentsQuery, enabled: agent.environment_id !== undefined }).data ?? [];
  const environment = environments.find(({ uid }) => uid === agent.environment_id)?.config.name ?? agent.environment_id;
  return (
    <Page
      title={revealHidden(agent.name)}
      lead={
        <>
          <Link to="/agents">Agents</Link> ·{" "}
          {agent.description !== undefined && agent.description !== "" && `${revealHidden(agent.description)} · `}
          Created <Time at={agent.created_at} />
        </>
      }
      actions={<AgentActions agent={agent} />}
    >
      <div className="stack">
        {!agent.available && (
          <p className="form-error">
            The team has more agents than its limit allows. Delete another one to use this one.
          </p>
        )}
        <HealthCard kind="agent" id={agent.uid} />
        <KeyList
          title="API keys"
          query={query}
          queryKey={keys.queryKey}
          create={(request) => client.identities.keys.create(agent.uid, request)}
          revoke={(uid) => client.identities.keys.delete(agent.uid, uid)}
        />
        <TrustRules agentUid={agent.uid} />
        <section className="card card-body stack">
          <h2>Defaults for its runs</h2>
          <dl className="facts">
            <Fact name="Model" value={agent.base_model ?? "The team's default"} />
            <Fact name="Environment" value={environment ?? "The team's default"} />
            <Fact name="Skills" value={agent.skills.join(", ")} />
            <Fact name="Secrets" value={agent.secrets.map(({ name }) => name).join(", ")} />
            <Fact
              name="On behalf of"
              value={agent.on_behalf_of_enabled === true ? "May start runs for members" : undefined}
            />
          </dl>
          {agent.prompt !== undefined && <Markdown text={agent.prompt} />}
        </section>
        <p>
          <Link to="/runs" search={{ creator: agent.uid }}>
            Runs that were started with its keys
          </Link>
        </p>
      </div>
    </Page>
  );
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string | undefined }) =>
  value === undefined || value === "" ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{revealHidden(value)}</dd>
    </div>
  );

function AgentActions({ agent }: { readonly agent: IdentityItem }) {
  const [open, setOpen] = useState<"edit" | "delete">();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => client.identities.delete(agent.uid),
    onSuccess: async () => {
      await navigate({ to: "/agents" });
      queryClient.removeQueries({ queryKey: ["identities", agent.uid] });
      await refreshQueries({ queryKey: ["identities"] });
    },
  });
  return (
    <>
      <Button icon={<Pencil size={15} aria-hidden />} onClick={() => setOpen("edit")}>
        Edit
      </Button>
      <Button look="danger" icon={<Trash2 size={15} aria-hidden />} onClick={() => setOpen("delete")}>
        Delete
      </Button>
      {open === "edit" && <AgentEditor agent={agent} onClose={() => setOpen(undefined)} />}
      <Confirm
        open={open === "delete"}
        onClose={() => setOpen(undefined)}
        title={`Delete ${agent.name}?`}
        text="All its keys are revoked at once, its queued runs fail, and its schedules are paused."
        action="Delete the agent"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
