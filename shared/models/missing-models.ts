import * as v from "valibot";
import { settingIfAny } from "#shared/settings.ts";
import { Model } from "#shared/wire/model.ts";

const MissingModels = v.pipe(v.string(), v.parseJson(), v.array(Model));

/** The models that an earlier start of this installation offered, and whose provider is not configured any more. */
export function listMissingModels(): readonly Model[] {
  const value = settingIfAny("MISSING_MODELS");
  return value === undefined ? [] : v.parse(MissingModels, value);
}
