import { useMutation, useQuery } from "@tanstack/react-query";
import { Link2, Link2Off } from "lucide-react";
import { useState } from "react";
import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { ShownSecret } from "../ui/shown-secret.tsx";
import { InlineError } from "../ui/status.tsx";
import { teammatesQuery } from "./environment-queries.ts";

interface SharingProps {
  readonly environment: EnvironmentItem;
}

/** Whom an environment is shared with. The API does not say with whom it is, so both directions are always offered. */
export const Sharing = ({ environment }: SharingProps) => (
  <section className="card" aria-label="Sharing">
    <div className="card-head">
      <h2>Sharing</h2>
    </div>
    <div className="card-body stack">
      <ShareByLink environment={environment} />
      <ShareWithPerson environment={environment} />
    </div>
  </section>
);

function ShareByLink({ environment: { uid } }: SharingProps) {
  const [open, setOpen] = useState<"create" | "revoke">();
  const [isRevoked, setRevoked] = useState(false);
  const close = () => setOpen(undefined);
  const revoke = useMutation({
    mutationFn: () => client.environments.unshare(uid, { link: true }),
    onSuccess: () => {
      setRevoked(true);
      close();
    },
  });
  return (
    <div className="stack">
      <p className="muted">Anyone with its link and an API key can read the environment, and not use it.</p>
      <div className="row">
        <Button icon={<Link2 size={15} aria-hidden />} onClick={() => setOpen("create")}>
          New link
        </Button>
        <Button icon={<Link2Off size={15} aria-hidden />} onClick={() => setOpen("revoke")}>
          Revoke the link
        </Button>
        {isRevoked && (
          <span className="faint" role="status">
            No link opens it.
          </span>
        )}
      </div>
      {open === "create" && <NewLink uid={uid} onCreated={() => setRevoked(false)} onClose={close} />}
      <Confirm
        open={open === "revoke"}
        onClose={close}
        title="Revoke the link?"
        text="The link opens nothing from then on. People with whom the environment is shared keep it."
        action="Revoke the link"
        busy={revoke.isPending}
        error={revoke.error === null ? undefined : describeError(revoke.error).text}
        onConfirm={() => revoke.mutate()}
      />
    </div>
  );
}

interface NewLinkProps {
  readonly uid: string;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

function NewLink({ uid, onCreated, onClose }: NewLinkProps) {
  const create = useMutation({
    mutationFn: () => client.environments.share(uid, { link: true }),
    onSuccess: onCreated,
  });
  const link = create.data?.link;
  return (
    <Dialog
      open
      onClose={onClose}
      title={link === undefined ? "Create a link?" : "Copy the link now"}
      description={link === undefined ? "A link that was created before stops working." : "It is shown this once."}
    >
      {link === undefined ? (
        <>
          <InlineError error={create.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Discard</Button>
            <Button look="primary" busy={create.isPending} onClick={() => create.mutate()}>
              Create the link
            </Button>
          </div>
        </>
      ) : (
        <ShownSecret value={link} copyLabel="Copy the link" onClose={onClose} />
      )}
    </Dialog>
  );
}

/** Shares the environment with people of the viewer's teams, except with those of the team that owns it. */
function ShareWithPerson({ environment: { uid, scope } }: SharingProps) {
  const me = useMe();
  const people =
    useQuery(teammatesQuery(me.teams.map((team) => team.uid).filter((team) => team !== scope.uid))).data ?? [];
  const [person, setPerson] = useState("");
  const change = useMutation({
    mutationFn: async (isShared: boolean) => {
      const { environments } = client;
      await (isShared
        ? environments.share(uid, { user_uid: person })
        : environments.unshare(uid, { user_uid: person }));
      const name = people.find((one) => one.uid === person)?.name ?? "";
      return isShared ? `Shared with ${name}.` : `Not shared with ${name}.`;
    },
  });
  const others = people.filter((one) => one.uid !== me.uid);
  if (others.length === 0) return null;
  return (
    <div className="stack">
      <SelectField
        label="Person"
        hint="The person can list it and use it for runs."
        value={person}
        onChange={(event) => {
          setPerson(event.target.value);
          change.reset();
        }}
      >
        <option value="">Choose a person</option>
        {others.map((one) => (
          <option key={one.uid} value={one.uid}>
            {revealHidden(one.name)}
          </option>
        ))}
      </SelectField>
      <InlineError error={change.error} />
      <div className="row">
        <Button disabled={person === ""} busy={change.isPending} onClick={() => change.mutate(true)}>
          Share
        </Button>
        <Button disabled={person === ""} busy={change.isPending} onClick={() => change.mutate(false)}>
          Stop sharing
        </Button>
        {change.data !== undefined && (
          <span className="faint" role="status">
            {revealHidden(change.data)}
          </span>
        )}
      </div>
    </div>
  );
}
