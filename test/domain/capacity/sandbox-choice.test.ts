import { describe, expect, it } from "vitest";
import { chooseSandbox } from "#shared/sandbox/choose-sandbox.ts";
import { offeredSandboxes } from "#shared/settings.ts";
import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";

const image = { dockerImage: "python:3.13", isLong: false };
const plain = { isLong: false };
const long = { isLong: true };

describe("the sandbox of an execution", () => {
  it.each<[string, { dockerImage?: string; isLong: boolean }, SandboxProvider[], object]>([
    ["the usual one, which is a function", plain, ["lambda"], { provider: "lambda" }],
    ["the usual one, where that is a MicroVM", plain, ["microvm", "lambda"], { provider: "microvm" }],
    ["a function, where MicroVMs are for what takes long", plain, ["lambda", "microvm"], { provider: "lambda" }],
    ["a MicroVM for a run that a function was too short for", long, ["lambda", "microvm"], { provider: "microvm" }],
    [
      "a function again, slice by slice, where there is no MicroVM",
      long,
      ["lambda", "fargate"],
      { provider: "lambda" },
    ],
    [
      "a container for an image of one's own",
      image,
      ["lambda", "fargate"],
      { provider: "fargate", dockerImage: "python:3.13" },
    ],
    [
      "a container for it also where the run is long",
      { ...image, isLong: true },
      ["microvm", "fargate"],
      { provider: "fargate" },
    ],
    ["the usual one for it where there are no containers", image, ["lambda"], { provider: "lambda" }],
    ["no container without an image", plain, ["fargate", "lambda"], { provider: "lambda" }],
    ["a process of the machine, also for a run that takes long", long, ["process"], { provider: "process" }],
    ["a function where containers are all that is named", plain, ["fargate"], { provider: "lambda" }],
  ])("is %s", (_, needs, offered, expected) => {
    expect(chooseSandbox(needs, offered)).toMatchObject(expected);
  });
});

describe("the sandboxes of a deployment", () => {
  it.each<[string, Record<string, string>, SandboxProvider[]]>([
    ["functions alone by default", {}, ["lambda"]],
    [
      "those that are named, the usual one first",
      { SANDBOXES: "microvm,lambda,fargate", MICROVM_IMAGE_ARN: "arn:aws:lambda:us-east-1:1:microvm-image:a" },
      ["microvm", "lambda", "fargate"],
    ],
    ["no MicroVMs in a region without them", { SANDBOXES: "microvm,lambda", MICROVM_IMAGE_ARN: "" }, ["lambda"]],
  ])("are %s", (_, environment, expected) => {
    const before = { ...process.env };
    try {
      Object.assign(process.env, environment);
      expect(offeredSandboxes()).toEqual(expected);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});
