// Runs a job through the WebAssembly module and prints the bits, line by line as the boards do.
// usage: node run.mjs MODULE.wasm MODEL.dgp JOB
import { readFileSync } from "node:fs";

const [modulePath, modelPath, jobPath] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(modulePath), {});
const { memory, model_space, input_space, output_space, predict } = instance.exports;

const model = readFileSync(modelPath);
new Uint8Array(memory.buffer, model_space(), model.length).set(model);

const job = readFileSync(jobPath);
const word = (index) => job.readUInt32LE(4 * index);
const [inputs, rows, paths, low, high] = [0, 1, 2, 3, 4].map(word);
const words = 32;
const hex = (number) => number.toString(16).padStart(8, "0");

for (let row = 0; row < rows; row++) {
  // Bits are copied as integers: a detour through JavaScript's doubles could change a NaN.
  const input = new Uint32Array(memory.buffer, input_space(), inputs);
  for (let i = 0; i < inputs; i++) input[i] = word(5 + row * inputs + i);
  const status = predict(inputs, paths, low, high, row);
  if (status !== 0) throw new Error(`row ${row}: status ${status}`);
  // How many words there are, then the words; the same space for each prediction.
  const space = output_space();
  ["drift", "sampled", "resumed"].forEach((name, index) => {
    const output = new Uint32Array(memory.buffer, space + 4 * words * index, words);
    console.log([name, ...[row, ...output.slice(1, 1 + output[0])].map(hex)].join(" "));
  });
}
