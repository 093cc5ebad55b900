import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { errorAt } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { TextArea } from "../ui/field.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { InlineError } from "../ui/status.tsx";
import { describeReason } from "./trigger-texts.ts";

/** The headers by which an event's type is known where the payload does not have it. */
const TYPE_HEADERS: Readonly<Record<string, string>> = {
  github: "X-GitHub-Event",
  sentry: "Sentry-Hook-Resource",
};

/** What the event would result in. */
const RESULTS = {
  started: "It would start a run with this prompt:",
  followed_up: "It is a button of a reply",
  ignored: "It would be ignored",
  failed: "It would fail",
} as const;

/** Shows what the latest delivery would start with another template, before it is saved. Nothing is created. */
export function PromptTest({ trigger }: { readonly trigger: TriggerItem }) {
  const [prompt, setPrompt] = useState(trigger.prompt);
  const test = useMutation({
    mutationFn: async () => {
      const { body } = await client.triggers.deliveries(trigger.uid, { limit: 1 });
      const [latest] = body.deliveries;
      if (latest === undefined) throw new Error("There is no delivery to test with.");
      const { payload = {}, event_type } = await client.triggers.retrieveDelivery(trigger.uid, latest.delivery_id);
      const header = TYPE_HEADERS[trigger.preset ?? trigger.kind];
      const headers = header === undefined ? {} : { [header]: event_type };
      return client.triggers.test(trigger.uid, { headers, payload, prompt });
    },
  });
  const why = test.data === undefined ? undefined : describeReason(test.data);
  return (
    <details className="folded">
      <summary>Test a prompt with the latest event</summary>
      <div className="stack">
        <TextArea
          label="Template"
          rows={5}
          value={prompt}
          error={errorAt(test.error, "prompt")}
          onChange={(event) => setPrompt(event.target.value)}
        />
        <div className="row">
          <Button busy={test.isPending} disabled={prompt.trim() === ""} onClick={() => test.mutate()}>
            Test
          </Button>
        </div>
        <InlineError error={test.error} />
        {test.data !== undefined && (
          <div role="status" className="stack">
            <p>
              {RESULTS[test.data.outcome]}
              {why !== undefined && `: ${revealHidden(why)}`}
            </p>
            <Code text={revealHidden(test.data.prompt)} language="markdown" />
          </div>
        )}
      </div>
    </details>
  );
}
