// The device's code: predictions, paths and the drift of the model in the page.

/** Levels of the intervals of an answer, as the module has them. */
export const LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99];
const WORDS_OF_OUTPUT = 3 + 2 * LEVELS.length;

function outputOf(numbers, at) {
  const [mean, deviation, variance, ...ends] = numbers.slice(at, at + WORDS_OF_OUTPUT);
  return { mean, deviation, variance, intervals: LEVELS.map((level, index) => [ends[2 * index], ends[2 * index + 1]]) };
}

export class Runtime {
  #calls;
  #inputs;
  #outputs;
  #seed = 0;

  constructor(module, model, { inputs, outputs }) {
    this.#calls = new WebAssembly.Instance(new WebAssembly.Module(module), {}).exports;
    this.#inputs = inputs;
    this.#outputs = outputs;
    const at = this.#calls.model_space(model.length);
    if (at === 0) throw new Error("there is not enough memory for the model");
    new Uint8Array(this.#calls.memory.buffer, at, model.length).set(model);
    if (!this.#calls.load()) throw new Error("the model in this page is damaged");
  }

  /** The answer for a row over so many paths (0: along the drift); null where it overflows. `row` keys the noise. */
  predict(x, paths, row) {
    this.#write(x);
    if (!this.#calls.predict(paths, this.#seed, row)) return null;
    const numbers = this.#numbers();
    const outside = new Uint32Array(numbers.buffer, numbers.byteOffset, 2);
    const isOutside = Array.from(x, (_, index) => ((outside[index >> 5] >>> (index & 31)) & 1) === 1);
    const outputs = Array.from({ length: this.#outputs }, (nothing, index) => outputOf(numbers, 2 + index * WORDS_OF_OUTPUT));
    return { isOutside, outputs, probabilities: numbers.slice(2 + this.#outputs * WORDS_OF_OUTPUT) };
  }

  /** The states of one path, K + 1 times D in raw units: along the drift, or sampled path number `path`. */
  path(x, sampled, row, path) {
    this.#write(x);
    return this.#calls.path(sampled ? 1 : 0, this.#seed, row, path) ? this.#numbers().slice() : null;
  }

  /** The drift where the flow begins, in raw units per unit of flow time. */
  drift(x) {
    this.#write(x);
    return this.#calls.drift() ? this.#numbers().slice() : null;
  }

  #write(x) {
    new Float32Array(this.#calls.memory.buffer, this.#calls.input_space(), this.#inputs).set(x);
  }

  /** The last answer; it is overwritten by the next. */
  #numbers() {
    return new Float32Array(this.#calls.memory.buffer, this.#calls.answer(), this.#calls.answer_words());
  }
}
