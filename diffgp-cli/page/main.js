// Puts the page together.

import { answerCard } from "./answer.js";
import { bytesOf, singlesOf } from "./bytes.js";
import { redrawAll } from "./chart.js";
import { costCard } from "./cost.js";
import { curveCard } from "./curve.js";
import { decisionCard } from "./decision.js";
import { choice, element, shortened, visible } from "./dom.js";
import { flowCard } from "./flow.js";
import { importanceCard } from "./importance.js";
import { inputsCard } from "./inputs.js";
import { mapCard } from "./map.js";
import { rowsCard } from "./rows.js";
import { Runtime } from "./runtime.js";
import { isIdle } from "./schedule.js";
import { namesOf } from "./shown.js";
import { State } from "./state.js";

/** Ways of an answer at first: as many of these as take no longer than this many milliseconds. */
const PATHS = [32, 16, 8, 4];
const QUICK = 30;

/** Names become what can be seen, once. */
function readable(facts) {
  for (const column of [...facts.inputs, ...facts.targets]) {
    column.name = visible(column.name);
    column.unit = column.unit && visible(column.unit);
  }
  return { ...facts, title: visible(facts.title), classes: facts.classes && facts.classes.map(visible) };
}

/** The rows inside, each of which has its inputs and then its targets. */
function rowsOf({ rows, inputs, targets }) {
  if (!rows) return null;
  const cells = singlesOf(rows.cells);
  const width = inputs.length + targets.length;
  const cut = (index, from, to) => cells.slice(index * width + from, index * width + to);
  return {
    ...rows,
    count: rows.numbers.length,
    inputs: (index) => cut(index, 0, inputs.length),
    targets: (index) => cut(index, inputs.length, width),
  };
}

function firstPaths(runtime, facts, x) {
  if (!facts.flow) return PATHS[0];
  runtime.predict(x, 1, 0);
  const times = [1, 2, 3].map(() => {
    const before = performance.now();
    runtime.predict(x, 4, 0);
    return performance.now() - before;
  });
  // The shortest: the others waited for something else.
  const each = Math.min(...times) / 4;
  return PATHS.find((paths) => paths * each < QUICK) ?? PATHS.at(-1);
}

function introduction(facts) {
  const what = facts.targets.map((target) => shortened(target.name, 60)).join(" and ");
  const text = `Move a slider: this page says what to expect of ${what}, and how sure it is.`;
  const more = "All of it happens in this file, with the very code that runs on the device: the same numbers, to the last digit. Nothing is sent anywhere.";
  return [element("p", { class: "lead" }, text), element("p", {}, more)];
}

function start() {
  const facts = readable(JSON.parse(document.getElementById("facts").textContent));
  document.title = shortened(facts.title, 100);
  const runtime = new Runtime(bytesOf(facts.runtime), bytesOf(facts.model), { inputs: facts.inputs.length, outputs: facts.outputs });
  const rows = rowsOf(facts);
  const x = rows ? rows.inputs(0) : Float32Array.from(facts.inputs, (input) => input.mean);
  const key = rows ? rows.numbers[0] : 0;
  const state = new State({ x, key, paths: firstPaths(runtime, facts, x), picked: rows ? 0 : null, output: 0 });
  const page = { facts, runtime, rows, state };
  state.derive(["x", "paths", "key"], ({ x: present, paths, key: row }) => {
    const answer = runtime.predict(present, paths, row);
    return { answer, isOutside: answer ? answer.isOutside : facts.inputs.map(() => false) };
  });

  // Pictures of classes begin with the one that is answered.
  const { answer: first } = state.values;
  if (facts.classes && first) state.values.output = first.probabilities.indexOf(Math.max(...first.probabilities));

  const names = namesOf(facts);
  const output = names.length > 1 ? choice(facts.classes ? "Pictures show the class" : "Pictures show", names, state.values.output, (chosen) => state.set({ output: chosen })) : null;
  const side = element("div", { class: "side" }, answerCard(page), inputsCard(page));
  const pictures = [curveCard, mapCard, flowCard, decisionCard, rowsCard, importanceCard, costCard].map((make) => make(page));
  const main = element("div", { class: "pictures" }, ...pictures.filter(Boolean));
  const head = element("header", {}, element("h1", {}, shortened(facts.title, 100)), ...introduction(facts), output);
  document.getElementById("page").replaceChildren(head, side, main);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  // For tests, and for the curious.
  window.diffgp = { state, runtime, isIdle };
}

try {
  start();
} catch (error) {
  document.getElementById("page").replaceChildren(element("p", { class: "outside", role: "alert" }, `This page cannot start: ${error.message}`));
  throw error;
}
