type Optional<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
type Required<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** A body for the API without undefined members. */
export function defined<T extends object>(value: T): Required<T> & Optional<T> {
  return JSON.parse(JSON.stringify(value));
}
