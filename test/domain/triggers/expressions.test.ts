import { describe, expect, it } from "vitest";
import { keyRange, toCondition, toUpdate } from "#shared/table/expression.ts";
import type { Query, Test } from "#shared/table/table.ts";

const key = { pk: "P", sk: "S" };

describe("toCondition", () => {
  it.each<[Test, string, object]>([
    [{ exists: true }, "attribute_exists(#a)", {}],
    [{ exists: false }, "attribute_not_exists(#a)", {}],
    [{ eq: "x" }, "#a = :0", { ":0": "x" }],
    [{ eq: false }, "#a = :0", { ":0": false }],
    [{ in: ["x", "y"] }, "#a IN (:0, :1)", { ":0": "x", ":1": "y" }],
    [{ below: 7 }, "#a < :0", { ":0": 7 }],
    [{ atLeast: 7 }, "#a >= :0", { ":0": 7 }],
    [{ absentOr: { eq: "x" } }, "(attribute_not_exists(#a) OR #a = :0)", { ":0": "x" }],
    [{ absentOr: { below: 7 } }, "(attribute_not_exists(#a) OR #a < :0)", { ":0": 7 }],
  ])("writes %j as an expression on one attribute", (test, condition, values) => {
    expect(toCondition({ a: test })).toEqual({
      ConditionExpression: condition,
      ExpressionAttributeNames: { "#a": "a" },
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    });
  });

  it.each<[Test, string]>([
    [{ belowAttribute: "b", otherwise: 5 }, "(#a < #b OR (attribute_not_exists(#b) AND #a < :0))"],
    [{ atLeastAttribute: "b", otherwise: 5 }, "(#a >= #b OR (attribute_not_exists(#b) AND #a >= :0))"],
  ])("writes %j as a comparison with another attribute, or with a number where that is absent", (test, condition) => {
    expect(toCondition({ a: test })).toEqual({
      ConditionExpression: condition,
      ExpressionAttributeNames: { "#a": "a", "#b": "b" },
      ExpressionAttributeValues: { ":0": 5 },
    });
  });

  it("joins several by AND, and gives no attribute a name that the language reserves", () => {
    expect(toCondition({ "team:0-1": { eq: 1 }, state: { eq: "x" } })).toEqual({
      ConditionExpression: "#team_0_1 = :0 AND #state = :1",
      ExpressionAttributeNames: { "#team_0_1": "team:0-1", "#state": "state" },
      ExpressionAttributeValues: { ":0": 1, ":1": "x" },
    });
  });

  it("has nothing where there is no condition, since DynamoDB refuses empty members", () => {
    expect(toCondition(undefined)).toEqual({});
    expect(toCondition({})).toEqual({});
  });
});

describe("toUpdate", () => {
  it("sets, adds and removes, with conditions that share the placeholders", () => {
    const change = { set: { a: 1, b: "x" }, add: { c: 2, d: -3 }, remove: ["e", "f"], if: { a: { eq: 0 } } };
    expect(toUpdate({ kind: "update", key, ...change })).toEqual({
      UpdateExpression: "SET #a = :0, #b = :1 ADD #c :2, #d :3 REMOVE #e, #f",
      ConditionExpression: "#a = :4",
      ExpressionAttributeNames: { "#a": "a", "#b": "b", "#c": "c", "#d": "d", "#e": "e", "#f": "f" },
      ExpressionAttributeValues: { ":0": 1, ":1": "x", ":2": 2, ":3": -3, ":4": 0 },
    });
  });

  it("leaves out what it does not do", () => {
    expect(toUpdate({ kind: "update", key })).toEqual({});
    expect(toUpdate({ kind: "update", key, set: {}, add: {}, remove: ["a"] })).toEqual({
      UpdateExpression: "REMOVE #a",
      ExpressionAttributeNames: { "#a": "a" },
    });
    expect(toUpdate({ kind: "update", key, if: { a: { exists: true } } })).toEqual({
      ConditionExpression: "attribute_exists(#a)",
      ExpressionAttributeNames: { "#a": "a" },
    });
  });
});

describe("keyRange", () => {
  it.each<[Omit<Query, "pk">, string, string[]]>([
    [{}, "", []],
    [{ from: "a" }, " AND #sk >= :1", ["a"]],
    [{ after: "a" }, " AND #sk > :1", ["a"]],
    [{ to: "b" }, " AND #sk <= :1", ["b"]],
    [{ before: "b" }, " AND #sk < :1", ["b"]],
    [{ prefix: "a#" }, " AND #sk BETWEEN :1 AND :2", ["a#", "a#\u{10ffff}"]],
    [{ from: "a", before: "b" }, " AND #sk BETWEEN :1 AND :2", ["a", "b"]],
    [{ after: "a", to: "b" }, " AND #sk BETWEEN :1 AND :2", ["a\u0000", "b"]],
  ])("writes %j as a range of the sort key", (range, condition, values) => {
    expect(keyRange({ pk: "P", ...range })).toEqual({
      KeyConditionExpression: `#pk = :0${condition}`,
      ExpressionAttributeNames: { "#pk": "pk", ...(condition === "" ? {} : { "#sk": "sk" }) },
      ExpressionAttributeValues: Object.fromEntries(["P", ...values].map((value, at) => [`:${at}`, value])),
    });
  });

  it("takes the keys of the index", () => {
    expect(keyRange({ index: "gsi2", pk: "P", from: "a" })).toEqual({
      KeyConditionExpression: "#scope = :0 AND #created_key >= :1",
      ExpressionAttributeNames: { "#scope": "scope", "#created_key": "created_key" },
      ExpressionAttributeValues: { ":0": "P", ":1": "a" },
    });
  });
});
