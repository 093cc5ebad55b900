import { describe, expect, it } from "vitest";
import { APIConnectionError, APIError, APITimeoutError } from "../../clients/typescript/src/index.ts";
import { describeError, fieldError, isForbidden, isNotFound } from "../../web/api/problem.ts";

const refused = (status: number, body: object = {}, headers = new Headers()) =>
  new APIError(`${status}`, { status, body, headers });

describe("describeError", () => {
  it.each<[string, unknown, object]>([
    ["a timeout", new APITimeoutError("late"), { title: "No response", text: "The service did not respond in time." }],
    [
      "a lost connection",
      new APIConnectionError("refused"),
      { title: "No connection", text: "The service cannot be reached. Check your connection." },
    ],
    ["another error", new Error("broken"), { title: "Something went wrong", text: "broken" }],
    ["what is no error", "broken", { title: "Something went wrong", text: "broken" }],
    ["403", refused(403, { detail: "Only owners." }), { title: "No permission", text: "Only owners." }],
    ["404", refused(404, { title: "Gone" }), { title: "Not found", text: "Gone" }],
    ["429", refused(429), { title: "Too many requests", text: "429" }],
    ["500", refused(500), { title: "The service failed", text: "500" }],
    ["another status", refused(499, { title: "Odd", detail: "So." }), { title: "Odd", text: "So." }],
    ["a status without a title", refused(409), { title: "The request was refused", text: "409" }],
    [
      "invalid fields with the id of the trace",
      refused(400, {
        title: "Invalid",
        detail: "Two fields are wrong.",
        trace_id: "trace-1",
        errors: [
          { path: "name", message: "is required" },
          { path: "config.model_id", message: "is unknown" },
        ],
      }),
      { title: "Invalid", text: "name: is required\nconfig.model_id: is unknown", traceId: "trace-1" },
    ],
  ])("describes %s", (_, error, described) => {
    expect(describeError(error)).toEqual(described);
  });
});

describe("fieldError", () => {
  const error = refused(400, {
    errors: [
      { path: "config.model_id", message: "is unknown" },
      { path: "name", message: "is required" },
    ],
  });
  it.each([
    [["name"], "is required"],
    [["model_id"], "is unknown"],
    [["config.model_id"], "is unknown"],
    [["title", "name"], "is required"],
    [["id"], undefined],
    [["ame"], undefined],
  ])("for the paths %j returns %j", (paths, message) => {
    expect(fieldError(error, ...paths)).toBe(message);
  });

  it("returns nothing for an error that is no response", () => {
    expect(fieldError(new Error("name"), "name")).toBeUndefined();
  });
});

it("isForbidden and isNotFound match one status only", () => {
  const errors = [refused(401), refused(403), refused(404), new Error("403")];
  expect([errors.map(isForbidden), errors.map(isNotFound)]).toEqual([
    [false, true, false, false],
    [false, false, true, false],
  ]);
});
