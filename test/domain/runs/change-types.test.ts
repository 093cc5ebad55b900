import { describe, expectTypeOf, it } from "vitest";
import type {
  HeadAttributes,
  HeadConditions,
  HeadIncrements,
  RemovableAttribute,
} from "#shared/records/head-attributes.ts";
import type { AttributeChange, Change, EndChange, StartChange } from "#shared/runs/transition.ts";

const events = [] as const;

describe("the type of a change of a run", () => {
  it("takes attributes of the head with their types only", () => {
    expectTypeOf<HeadAttributes["heartbeat_at"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf({ heartbeat_at: 1, counted: true, stops: [] } as const).toExtend<HeadAttributes>();
    // @ts-expect-error the head has no such attribute
    ({ events, set: { heartbeat: 1 } }) satisfies Change;
    // @ts-expect-error the attribute is a number
    ({ events, set: { heartbeat_at: "1" } }) satisfies Change;
    // @ts-expect-error the head's key contains the id
    ({ events, set: { run_id: "r" } }) satisfies Change;
  });

  it("adds to numbers of the head only", () => {
    expectTypeOf({ executions: 1, restarts: 1 }).toExtend<HeadIncrements>();
    // @ts-expect-error a string is not a number
    ({ events, add: { key_hash: 1 } }) satisfies Change;
    // @ts-expect-error the head has no such attribute
    ({ events, add: { starts: 1 } }) satisfies Change;
  });

  it("removes attributes that a head can be without", () => {
    expectTypeOf<"interrupt" | "key_hash" | "heartbeat_at" | "ended_at">().toExtend<RemovableAttribute>();
    // @ts-expect-error each head has a scope
    ({ events, remove: ["scope"] }) satisfies Change;
    // @ts-expect-error the head has no such attribute
    ({ events, remove: ["interupt"] }) satisfies Change;
  });

  it("has conditions of attributes of the head", () => {
    expectTypeOf({ slot: { exists: true } }).toExtend<HeadConditions>();
    // @ts-expect-error the head has no such attribute
    ({ events, if: { slots: { exists: true } } }) satisfies Change;
  });

  it("has the members of its kind of change only", () => {
    ({ to: "PENDING", takes: "owner", events }) satisfies StartChange;
    ({ to: "FAILED", via: "INPROGRESS", executionEnd: "itself", events }) satisfies EndChange;
    ({ ownerSlot: "release", touch: true, events }) satisfies AttributeChange;
    // @ts-expect-error only a run that begins takes a slot
    ({ to: "FAILED", takes: "owner", events }) satisfies Change;
    // @ts-expect-error only a run that ends its execution leaves a sandbox
    ({ to: "INPROGRESS", executionEnd: "itself", events }) satisfies Change;
    // @ts-expect-error a transition always changes the time of the last update
    ({ to: "QUEUED", touch: true, events }) satisfies Change;
    // @ts-expect-error the service knows no such state
    ({ to: "STOPPED", events }) satisfies Change;
  });
});
