import { describe, expect, it } from "vitest";
import type { SourceChoice } from "#shared/triggers/sources/find-source.ts";
import { findTicket } from "#shared/triggers/sources/ticket.ts";

const author = { id: "", name: "", kind: "person" } as const;
const find = (choice: SourceChoice, payload: Record<string, unknown>, repository = "acme/shop") =>
  findTicket(choice, { type: "", action: "", text: "", author, repository, thread: "t", payload });
const ticket = (url: string, ticket_id: string, ticket_source: string) => ({
  url,
  labels: { ticket_id, ticket_source },
});
const webhook = (preset: "linear" | "jira" | "sentry" | "pagerduty"): SourceChoice => ({ kind: "webhook", preset });

const page = "https://github.com/acme/shop";
const gitlabPage = "https://gitlab.com/acme/shop/-";
const slackMessage = { team_id: "T1", event: { channel: "C2", ts: "5.1" } };
const linearIssue = { identifier: "ENG-7", url: "https://linear.app/acme/issue/ENG-7" };
const incident = { id: "Q2", html_url: "https://acme.pagerduty.com/incidents/Q2" };

describe("the ticket of an event", () => {
  it.each<[string, SourceChoice, Record<string, unknown>, object]>([
    [
      "an issue",
      { kind: "github" },
      { issue: { number: 12, html_url: `${page}/issues/12` } },
      ticket(`${page}/issues/12`, "acme/shop#12", "github"),
    ],
    [
      "a pull request",
      { kind: "github" },
      { pull_request: { number: 3, html_url: `${page}/pull/3` } },
      ticket(`${page}/pull/3`, "acme/shop#3", "github"),
    ],
    [
      "a run of a workflow for a pull request",
      { kind: "github" },
      { repository: { html_url: page }, workflow_run: { pull_requests: [{ number: 3 }] } },
      ticket(`${page}/pull/3`, "acme/shop#3", "github"),
    ],
    ["a push", { kind: "github" }, { ref: "refs/heads/main" }, { labels: {} }],
    [
      "a merge request",
      { kind: "gitlab" },
      { object_kind: "merge_request", object_attributes: { iid: 4, url: `${gitlabPage}/merge_requests/4` } },
      ticket(`${gitlabPage}/merge_requests/4`, "acme/shop!4", "gitlab"),
    ],
    [
      "a comment on an issue",
      { kind: "gitlab" },
      { object_kind: "note", object_attributes: { iid: 9 }, issue: { iid: 5, url: `${gitlabPage}/issues/5` } },
      ticket(`${gitlabPage}/issues/5`, "acme/shop#5", "gitlab"),
    ],
    [
      "a message",
      { kind: "slack" },
      slackMessage,
      ticket("https://app.slack.com/client/T1/C2/thread/C2-5.1", "C2/5.1", "slack"),
    ],
    [
      "a comment on a ticket",
      webhook("linear"),
      { type: "Comment", url: `${linearIssue.url}#comment-1`, data: { issue: { identifier: "ENG-7" } } },
      ticket(linearIssue.url, "ENG-7", "linear"),
    ],
    ["a ticket", webhook("linear"), { type: "Issue", data: linearIssue }, ticket(linearIssue.url, "ENG-7", "linear")],
    [
      "an issue of Jira",
      webhook("jira"),
      { issue: { key: "SHOP-1", self: "https://acme.atlassian.net/rest/api/2/issue/10001" } },
      ticket("https://acme.atlassian.net/browse/SHOP-1", "SHOP-1", "jira"),
    ],
    [
      "an issue of Sentry",
      webhook("sentry"),
      { data: { issue: { id: "1", shortId: "SHOP-1A", web_url: "https://acme.sentry.io/issues/1/" } } },
      ticket("https://acme.sentry.io/issues/1/", "SHOP-1A", "sentry"),
    ],
    ["an incident", webhook("pagerduty"), { event: { data: incident } }, ticket(incident.html_url, "Q2", "pagerduty")],
    [
      "a note of an incident",
      webhook("pagerduty"),
      { event: { data: { id: "N1", incident } } },
      ticket(incident.html_url, "Q2", "pagerduty"),
    ],
    ["a plain event", { kind: "webhook" }, { ticket: "T-1", url: "https://acme.test/" }, { labels: {} }],
  ])("is that of %s", (_, choice, payload, expected) => {
    expect(find(choice, payload)).toEqual(expected);
  });

  it.each([
    "javascript:alert(1)",
    "https://ada:hush@github.com/acme/shop/issues/12",
    "https://github.com/a b",
    `https://github.com/${"a".repeat(2048)}`,
    "nowhere",
  ])("has no URL where the event says %j", (html_url) => {
    expect(find({ kind: "github" }, { issue: { number: 12, html_url } })).not.toHaveProperty("url");
  });

  it("has no label that a run could not have", () => {
    expect(find(webhook("linear"), { type: "Issue", data: { identifier: "A".repeat(257) } })).toEqual({ labels: {} });
    expect(find(webhook("linear"), { type: "Issue", data: { identifier: "a\u0000b" } })).toEqual({ labels: {} });
    expect(find(webhook("linear"), { type: "Issue", data: { identifier: "\ud800" } })).toEqual({ labels: {} });
  });

  it("cannot name a workspace of Slack with characters of a path", () => {
    const event = { channel: "C2/../..", ts: "5.1" };
    expect(find({ kind: "slack" }, { team_id: "T1", event })).toEqual({ labels: {} });
  });
});
