type Listener<T> = (value: T) => void;

export class Emitter<T> {
  #listeners: Listener<T>[] = [];

  on(listener: Listener<T>): void {
    this.#listeners.push(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
}
