// What the page shows at present, and who wants to know when that changes.

/** x: the inputs; key: the row whose noise is used; paths; output: which target or class the pictures show. */
export class State {
  #derived = [];
  #listeners = [];
  #changed = new Set();

  constructor(values) {
    this.values = values;
  }

  /** Changes some values; listeners hear of it with the next frame, once. */
  set(changes) {
    Object.assign(this.values, changes);
    if (this.#changed.size === 0) requestAnimationFrame(() => this.#tell());
    for (const name of Object.keys(changes)) this.#changed.add(name);
  }

  /** Values that follow from those of these names: computed now, and before listeners hear that one has changed. */
  derive(names, compute) {
    this.#derived.push({ names, compute });
    Object.assign(this.values, compute(this.values));
  }

  /** Calls now, and when one of these values has changed. */
  watch(names, listener) {
    this.#listeners.push({ names, listener });
    listener(this.values);
  }

  #tell() {
    const changed = this.#changed;
    this.#changed = new Set();
    const concerns = ({ names }) => names.some((name) => changed.has(name));
    for (const { compute } of this.#derived.filter(concerns)) {
      const values = compute(this.values);
      Object.assign(this.values, values);
      for (const name of Object.keys(values)) changed.add(name);
    }
    for (const { listener } of this.#listeners.filter(concerns)) listener(this.values);
  }
}
