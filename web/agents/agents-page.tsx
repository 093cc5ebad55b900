import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import type { IdentityItem } from "../../clients/typescript/src/index.ts";
import { identitiesQuery } from "../api/queries.ts";
import { RowHealth } from "../health/run-health.tsx";
import { Button } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { AgentEditor } from "./agent-editor.tsx";

export function AgentsPage() {
  const query = useQuery(identitiesQuery);
  const [isOpen, setOpen] = useState(false);
  const create = (
    <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
      New agent
    </Button>
  );
  return (
    <Page
      title="Agents"
      lead="Service accounts of your team, with their own keys and defaults for runs."
      actions={create}
    >
      <section className="card" aria-label="List of agents">
        <Loaded query={query}>
          {(agents) =>
            agents.length === 0 ? (
              <Empty icon={<Bot size={32} aria-hidden />} title="No agents yet">
                <p>An agent lets a program or a schedule start runs without a person's key.</p>
                {create}
              </Empty>
            ) : (
              <ul className="item-list">
                {agents.map((agent) => (
                  <AgentRow key={agent.uid} agent={agent} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      {isOpen && <AgentEditor onClose={() => setOpen(false)} />}
    </Page>
  );
}

const AgentRow = ({ agent }: { readonly agent: IdentityItem }) => (
  <li className="item">
    <div className="item-main">
      <Link to="/agents/$agentUid" params={{ agentUid: agent.uid }} className="item-title">
        {revealHidden(agent.name)}
      </Link>
      <p className="item-facts">
        {agent.description !== undefined && <span>{revealHidden(agent.description)}</span>}
        {agent.base_model !== undefined && <span className="mono">{agent.base_model}</span>}
      </p>
      <RowHealth kind="agent" id={agent.uid} />
    </div>
    <div className="item-side">
      {!agent.available && <span className="badge tone-bad">Over the limit</span>}
      <span className="faint">
        Created <Time at={agent.created_at} />
      </span>
    </div>
  </li>
);
