import { expect, it } from "vitest";
import { findLastPort } from "#server/command/local-state.ts";

const state = { base_url: "", web_url: "", api_key: "", team_uid: "", pid: 1 };

it.each([
  ["4500 at the first start", undefined, 4500],
  ["that which the server listened on", { ...state, web_url: "https://runyard.example.com:8443", port: 4600 }, 4600],
  ["that of a local address, in a file without it", { ...state, web_url: "http://127.0.0.1:4600" }, 4600],
  [
    "not that of a public address, in a file without it",
    { ...state, web_url: "https://runyard.example.com:8443" },
    4500,
  ],
])("findLastPort returns %s", (_, last, port) => expect(findLastPort(last)).toBe(port));
