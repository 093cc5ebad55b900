import { isObject, type Json, type JsonObject } from "./json.ts";
import { findSample } from "./samples/find-sample.ts";

/** The position of a value in a document. */
interface Place {
  /** The component that contains the value. */
  readonly component?: string;
  readonly member?: string;
  /** The member of the component that contains this member. */
  readonly parent?: string;
  readonly depth: number;
}

/**
 * Creates a value that the schema accepts, from the samples of samples/. With `full`, it contains the optional members that have a
 * sample there.
 */
export function buildSample(
  schema: JsonObject,
  components: JsonObject,
  full: boolean,
  place: Place = { depth: 0 },
): Json {
  const known = place.member === undefined ? undefined : findSample(place.component, place.member, place.parent);
  if (known !== undefined && suits(schema, known, components)) return known;
  const ref = schema["$ref"];
  if (typeof ref === "string") {
    const component = ref.replace(/^.*\//, "");
    const target = components[component];
    return isObject(target) ? buildSample(target, components, full, { depth: place.depth, component }) : null;
  }
  if (schema["const"] !== undefined) return schema["const"];
  const [first] = toList(schema["enum"]);
  if (first !== undefined) return first;
  for (const choice of ["oneOf", "anyOf"] as const) {
    const option = toList(schema[choice]).find((one) => isObject(one) && one["type"] !== "null");
    if (isObject(option) && schema["type"] === undefined) return buildSample(option, components, full, place);
  }
  return sampleOfType(schema, components, full, place);
}

function sampleOfType(schema: JsonObject, components: JsonObject, full: boolean, place: Place): Json {
  const minimum = Number(schema["minimum"] ?? 0);
  switch (schema["type"]) {
    case "object":
      return sampleObject(schema, components, full, place);
    case "array":
      return isObject(schema["items"]) && place.depth < 6
        ? [buildSample(schema["items"], components, full, nestedIn(place))]
        : [];
    case "integer":
    case "number":
      return minimum;
    case "boolean":
      return false;
    case "string":
      return sampleText(schema);
    default:
      return {};
  }
}

function sampleObject(schema: JsonObject, components: JsonObject, full: boolean, place: Place): JsonObject {
  const required = new Set(toList(schema["required"]));
  // Of several alternative requirements, the example meets the first.
  const [way] = toList(schema["anyOf"]);
  for (const member of isObject(way) ? toList(way["required"]) : []) required.add(member);
  const members = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {});
  for (const [member] of members.slice(0, Number(schema["minProperties"] ?? 0))) required.add(member);
  const inner = nestedIn(place);
  return Object.fromEntries(
    members.flatMap(([member, value]) => {
      const isShown = required.has(member) || (full && findSample(place.component, member, inner.parent) !== undefined);
      return isObject(value) && isShown ? [[member, buildSample(value, components, full, { ...inner, member })]] : [];
    }),
  );
}

/** The place of the members of an object, or of the items of a list. */
function nestedIn(place: Place): Place {
  const parent = place.member ?? place.parent;
  return { ...within(place), ...(parent === undefined ? {} : { parent }), depth: place.depth + 1 };
}

/** A schema without a name belongs to the component that contains it. */
const within = ({ component }: Place) => (component === undefined ? {} : { component });

function sampleText(schema: JsonObject): string {
  switch (schema["format"]) {
    case "uuid":
      return "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e";
    case "date-time":
      return "2026-05-18T19:00:00.000Z";
    case "uri":
      return "https://example.com/";
    default:
      return "text".padEnd(Number(schema["minLength"] ?? 0), "t").slice(0, Number(schema["maxLength"] ?? 100));
  }
}

/** Whether the schema accepts the sample, which may come from another member of the same name. */
function suits(schema: JsonObject, sample: Json, components: JsonObject): boolean {
  const ref = schema["$ref"];
  const target = typeof ref === "string" ? components[ref.replace(/^.*\//, "")] : undefined;
  if (isObject(target)) return suits(target, sample, components);
  const options = [...toList(schema["anyOf"]), ...toList(schema["oneOf"])].filter(isObject);
  if (options.length > 0 && !options.some((option) => suits(option, sample, components))) return false;
  if (schema["const"] !== undefined && schema["const"] !== sample) return false;
  if (schema["enum"] !== undefined && !toList(schema["enum"]).includes(sample)) return false;
  const pattern = schema["pattern"];
  if (typeof pattern === "string" && typeof sample === "string" && !new RegExp(pattern, "u").test(sample)) return false;
  if (typeof sample === "string" && sample.length < Number(schema["minLength"] ?? 0)) return false;
  const type = sample === null ? "null" : Array.isArray(sample) ? "array" : typeof sample;
  const isOfType = schema["type"] === type || (schema["type"] === "integer" && type === "number");
  return (schema["type"] === undefined || isOfType) && membersSuit(schema, sample, components);
}

function membersSuit(schema: JsonObject, sample: Json, components: JsonObject): boolean {
  const items = schema["items"];
  if (Array.isArray(sample)) return !isObject(items) || sample.every((one: Json) => suits(items, one, components));
  if (!isObject(sample)) return true;
  const has = toList(schema["required"]).every((name) => sample[String(name)] !== undefined);
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return (
    has &&
    Object.entries(sample).every(([name, value]) => {
      const member = properties[name] ?? schema["additionalProperties"];
      return !isObject(member) || suits(member, value, components);
    })
  );
}

const toList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
