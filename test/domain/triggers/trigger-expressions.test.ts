import { describe, expect, it } from "vitest";
import { checkExpression, evaluate } from "#shared/triggers/expressions/expression.ts";
import { runExpression } from "#shared/triggers/expressions/run-expression.ts";

const payload = {
  id: 7,
  title: "a title",
  severity: "high",
  at: "2026-01-02T03:04:05Z",
  labels: [{ name: "agent" }, { name: "bug" }],
  numbers: [1, 2, 3],
  nothing: null,
};
const event = {
  type: "issues",
  action: "opened",
  text: "Please deploy it",
  author: { id: "1", name: "ada", kind: "person" as const },
  repository: "acme/shop",
  thread: "acme/shop#7",
  payload,
};

describe("a filter", () => {
  it.each([
    [true, "true"],
    [true, "event.type == 'issues' && event.action != ''"],
    [false, "event.repository == 'acme/other' || event.thread == ''"],
    [true, "event.author.kind == 'person' ? event.author.name == 'ada' : false"],
    [true, "event.text.startsWith('Please') && event.text.endsWith('it')"],
    [true, "event.text.contains('deploy')"],
    [true, "event.text.matches('(?i)\\\\bDEPLOY\\\\b')"],
    [true, "event['text'].size() == size(event.text)"],
    [true, "event.payload.id == 7 && event.payload.id >= 7 && event.payload.id in [7, 8]"],
    [true, "event.payload.id + 1.0 == 8.0 && -event.payload.id < 0"],
    [true, "int(event.payload.id) + 1 == 8"],
    [true, "event.payload['severity'] in ['high', 'critical']"],
    [true, "event.payload.labels.exists(label, label.name == 'agent')"],
    [true, "event.payload.labels.exists_one(label, label.name == 'agent')"],
    [false, "event.payload.labels.all(label, label.name == 'agent')"],
    [true, "event.payload.labels.map(label, label.name) == ['agent', 'bug']"],
    [true, "event.payload.numbers.filter(n, n > 1).size() == 2"],
    [true, "has(event.payload.title) && !has(event.payload.constructor)"],
    [true, "'title' in event.payload && event.payload.nothing == null"],
    [true, "type(event.payload.title) == string"],
    [true, "timestamp(event.payload.at) + duration('1h') < timestamp('2026-01-02T05:00:00Z')"],
    [true, "timestamp(event.payload.at).getHours() == 3"],
    [true, `${"(".repeat(40)}event.payload.id == 7${")".repeat(40)}`],
  ])("is %s: %s", (value, expression) => {
    expect(checkExpression("filter", expression)).toBeUndefined();
    expect(evaluate("filter", expression, event)).toEqual({ value });
  });

  it.each([
    ["event.type ==", 1, 12, "found ="],
    ["event.type == 'a' &&\n  event.text = 'b'", 2, 14, "found ="],
    ["event.type = 'a'", 1, 12, "found ="],
    ["event.payload[?'a'] == 1", 1, 14, "found ["],
    ["push == 'a'", 1, 1, "unknown name push; values are members of event"],
    ["event.payload.labels.all(x, y == 1)", 1, 29, "unknown name y"],
    ["event.author.email == ''", 1, 13, "event.author has no member email"],
    ["event.title == ''", 1, 6, "event has no member title; it has type, action"],
    ["event['title'] == ''", 1, 6, "event has no member title"],
    ["event.text.length == 1", 1, 11, "a string has no members"],
    ["event.constructor == 1", 1, 6, "event has no member constructor"],
    ["lower(event.text) == ''", 1, 1, "unknown function lower"],
    ["constructor() == ''", 1, 1, "unknown function constructor"],
    ["event.type == 'a' &&\n  (event.action == 'b' ||\n   event.text.like('c'))", 3, 14, "unknown function like"],
    ["event.text.contains('a', 'b')", 1, 11, "contains is called with other arguments"],
    ["event.text.contains(1)", 1, 21, "must be string"],
    ["event.text.matches('(')", 1, 20, "must be a regular expression of RE2"],
    ["event.text", 1, 1, "the result is no bool"],
    ["'true'", 1, 1, "the result is no bool"],
    ["1 + 1", 1, 1, "the result is no bool"],
    ["event.payload.id + 1.0", 1, 1, "the result is no bool"],
    ["event.payload.labels.map(x, x)", 1, 1, "the result is no bool"],
    ["event.type == 'a' ? 'yes' : 'no'", 1, 1, "the result is no bool"],
    ["event.payload", 1, 1, "the result is no bool"],
    ["size(event.text)", 1, 1, "the result is no bool"],
    ["!event.text", 1, 7, "must be bool"],
    ["event.type == 'a' && event.text", 1, 27, "must be bool"],
    ["event.text == 1", 1, 12, "the operands of == are of kinds that do not fit"],
    ["event.text - 'a' == ''", 1, 12, "the operands of - are of kinds that do not fit"],
    ["'a' in event.text", 1, 13, "must be list or map"],
    ["google.protobuf.Duration{seconds: 1} == duration('1s')", 1, 1, "messages are not supported"],
    [`${"[".repeat(101)}1${"]".repeat(101)} == []`, 1, 100, "must be nested at most 100 levels deep"],
    [`[${"1,".repeat(1000)}1] == []`, 1, 0, "must have at most 1000 operations"],
  ])("is refused where it has an error: %s", (expression, line, column, message) => {
    expect(checkExpression("filter", expression)).toEqual({
      line,
      column: column === 0 ? expect.any(Number) : column,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["event.payload.missing == 1", "field not found: missing"],
    ["event.payload.title", "the result is no bool"],
    ["event.payload.id + 1 == 8", "found no matching overload for '_+_' applied to '(double, int)'"],
    ["event.payload.numbers[9] == 1", expect.any(String)],
    ["event.payload.constructor == null", "field not found: constructor"],
  ])("yields an error and no value where the payload does not fit: %s", (expression, error) => {
    expect(checkExpression("filter", expression)).toBeUndefined();
    expect(evaluate("filter", expression, event)).toEqual({ error });
  });
});

describe("a thread key", () => {
  it.each([
    ["event.payload.title", "a title"],
    ["event.repository + '#' + string(event.payload.id)", "acme/shop#7"],
    ["has(event.payload.ticket) ? event.payload.ticket : ''", ""],
  ])("yields a string: %s", (expression, value) => {
    expect(checkExpression("thread_key", expression)).toBeUndefined();
    expect(evaluate("thread_key", expression, event)).toEqual({ value });
  });

  it.each(["event.text == ''", "1", "event.payload.id + 1.0 - 2.0", "event.author"])(
    "cannot be of another kind: %s",
    (expression) => {
      expect(checkExpression("thread_key", expression)).toMatchObject({ message: "the result is no string" });
    },
  );

  it("yields an error for a value that is no string", () => {
    expect(evaluate("thread_key", "event.payload.id", event)).toEqual({ error: "the result is no string" });
  });
});

describe("the thread that evaluates expressions", () => {
  const list = Array.from({ length: 100_000 }, (_, number) => number);
  const hostile = { ...event, text: `${"a".repeat(2_000_000)}!`, payload: { list } };
  const run = (expression: string) => runExpression({ member: "filter", expression, event: hostile });

  it("matches a pattern that backtracks elsewhere in linear time", async () => {
    const short = { ...event, text: `${"a".repeat(200)}!` };
    const outcome = await runExpression({
      member: "filter",
      expression: "event.text.matches('^(a+)+$')",
      event: short,
    });
    expect(outcome).toEqual({ value: false });
  });

  it.each([
    "event.text.matches('^(a+)+$')",
    "event.payload.list.all(x, event.payload.list.all(y, x + y >= 0.0))",
    "event.payload.list.map(x, event.payload.list.map(y, [x, y])).size() == 1",
  ])("is terminated, and the next expression is evaluated in another: %s", async (expression) => {
    expect(await run(expression)).toEqual({
      error: expect.stringMatching(/^took more than (100 ms|64 MB of memory)$/),
    });
    expect(await run("event.type == 'issues'")).toEqual({ value: true });
  });

  it("ends the check of an expression that the parser does not get through", async () => {
    const outcome = await runExpression({ member: "filter", expression: "[".repeat(2000) });
    expect(outcome.error ?? outcome.problem?.message).toEqual(expect.any(String));
    expect(await runExpression({ member: "filter", expression: "true" })).toEqual({});
  });

  it("evaluates expressions that come together one after the other", async () => {
    const outcomes = await Promise.all(["true", "false", "event.nothing", "event.text != ''"].map(run));
    expect(outcomes).toEqual([{ value: true }, { value: false }, { error: expect.any(String) }, { value: true }]);
  });
});
