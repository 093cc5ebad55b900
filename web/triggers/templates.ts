import type { System } from "./trigger-texts.ts";

/** A trigger that is ready to be created. Presets have a prompt of their own. */
interface Template {
  readonly title: string;
  readonly system: System;
  readonly name: string;
  readonly events: readonly string[];
  readonly filter: string;
  readonly prompt: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    title: "Answer a mention on GitHub",
    system: "github",
    name: "mentions",
    events: ["issue_comment.created", "pull_request_review_comment.created"],
    filter: 'event.text.contains("@runyard")',
    prompt: [
      "You are mentioned in {{ event.thread }} of {{ event.repository }}. Do what the comment asks for, and report what you did.",
      "{{ event.text }}",
    ].join("\n\n"),
  },
  {
    title: "Review a pull request",
    system: "github",
    name: "reviews",
    events: ["pull_request.opened", "pull_request.ready_for_review"],
    filter: "!event.payload.pull_request.draft",
    prompt: [
      "Review the pull request {{ event.payload.pull_request.html_url }} of {{ event.repository }}: read the diff, run the tests, and name faults with file and line.",
      "{{ event.payload.pull_request.title }}",
    ].join("\n\n"),
  },
  {
    title: "Fix a failed build",
    system: "github",
    name: "failed builds",
    events: ["workflow_run.completed"],
    filter: 'event.payload.workflow_run.conclusion == "failure"',
    prompt:
      "The workflow {{ event.payload.workflow_run.name }} failed on the branch {{ event.payload.workflow_run.head_branch }} of {{ event.repository }}: {{ event.payload.workflow_run.html_url }}. Find the cause and fix it.",
  },
  {
    title: "Triage an issue",
    system: "github",
    name: "new issues",
    events: ["issues.opened"],
    filter: "",
    prompt: [
      "A new issue was opened in {{ event.repository }}. Reproduce it, find the code that is responsible, and say what would fix it.",
      "{{ event.payload.issue.title }}",
      "{{ event.text }}",
    ].join("\n\n"),
  },
  {
    title: "Answer a mention in Slack",
    system: "slack",
    name: "Slack mentions",
    events: ["app_mention"],
    filter: "",
    prompt: "{{ event.author.name }} asks in Slack:\n\n{{ event.text }}",
  },
  { title: "Look into a Sentry issue", system: "sentry", name: "Sentry issues", events: [], filter: "", prompt: "" },
  {
    title: "Look into a PagerDuty incident",
    system: "pagerduty",
    name: "incidents",
    events: ["incident.triggered"],
    filter: "",
    prompt: "",
  },
];
