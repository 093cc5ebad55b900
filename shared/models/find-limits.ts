import * as v from "valibot";
import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import { listSetting } from "#shared/settings.ts";
import { findStatedLimits } from "./providers.ts";

const LimitSetting = v.pipe(
  v.string(),
  v.regex(/^[^=]+=\d+(?:\/\d+)?$/),
  v.transform((text) => {
    const [, id = "", context, output] = /^([^=]+)=(\d+)(?:\/(\d+))?$/.exec(text) ?? [];
    return [
      id,
      { contextTokens: Number(context), ...(output === undefined ? {} : { outputTokens: Number(output) }) },
    ] as const;
  }),
);

/** The limits of a model that the deployment sets, which take precedence over those that its server states. */
export const findLimits = (id: string): ModelLimits =>
  new Map(listSetting("MODEL_LIMITS").map((text) => v.parse(LimitSetting, text))).get(id) ?? findStatedLimits(id);
