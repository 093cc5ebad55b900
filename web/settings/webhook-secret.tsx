import { useMutation } from "@tanstack/react-query";
import type { WebhookItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { webhooksQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ShownSecret } from "../ui/shown-secret.tsx";
import { InlineError } from "../ui/status.tsx";

interface WebhookSecretProps {
  readonly webhook: WebhookItem;
  readonly onClose: () => void;
}

/** Replaces the signing secret of a webhook after a confirmation, and shows the new one once. */
export function WebhookSecret({ webhook: { uid, scope }, onClose }: WebhookSecretProps) {
  const rotate = useMutation({
    mutationFn: () => client.webhooks.rotateSecret(uid, { team: scope.uid }),
    onSuccess: () => refreshQueries({ queryKey: webhooksQuery(scope.uid).queryKey }),
  });
  const secret = rotate.data?.secret;
  return (
    <Dialog
      open
      onClose={onClose}
      title={secret === undefined ? "Replace the signing secret?" : "Copy the secret now"}
      description={
        secret === undefined
          ? "Deliveries are signed with the new and the present secret for 24 hours. A secret that was replaced before ends at once."
          : "It is shown this once. Give it to the receiver within 24 hours."
      }
    >
      {secret === undefined ? (
        <>
          <InlineError error={rotate.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Keep</Button>
            <Button look="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
              Replace the secret
            </Button>
          </div>
        </>
      ) : (
        <ShownSecret value={secret} copyLabel="Copy the secret" onClose={onClose} />
      )}
    </Dialog>
  );
}
