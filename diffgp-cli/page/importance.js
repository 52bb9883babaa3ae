// Which inputs matter: by how far one has to move to see a change, and by what is lost when one is shuffled.

import { card, element, shortened } from "./dom.js";
import { numberText, percentText } from "./numbers.js";
import { withValue } from "./inputs.js";
import { work } from "./schedule.js";

/** Inputs shown, and rows that are shuffled, at most. */
const SHOWN = 16;
const MOST_ROWS = 100;

export function importanceCard({ facts, runtime, rows, state }) {
  const body = element("tbody");
  let shuffled = null;

  /** Rows of the data, or places made up within what training has seen. */
  const places = rows
    ? Array.from({ length: Math.min(rows.count, MOST_ROWS) }, (_, index) => rows.inputs(Math.floor((index * rows.count) / Math.min(rows.count, MOST_ROWS))))
    : madeUp(facts);

  /** Root mean square change of the answer along the drift when an input comes from another row. */
  function* compute({ output }) {
    const answer = (x) => runtime.predict(x, 0, 0);
    const before = [];
    for (const x of places) {
      before.push(answer(x));
      yield;
    }
    const found = [];
    // Half of the rows further is far away even where rows are sorted.
    const other = (index) => places[(index + Math.floor(places.length / 2)) % places.length];
    for (let input = 0; input < facts.inputs.length; input++) {
      let [sum, count] = [0, 0];
      for (let index = 0; index < places.length; index++) {
        const after = answer(withValue(places[index], input, other(index)[input]));
        yield;
        if (!after || !before[index]) continue;
        sum += change(before[index], after, output);
        count++;
      }
      found.push(Math.sqrt(sum / Math.max(count, 1)));
    }
    shuffled = found;
    show();
  }

  /** Squared. Of classes: all of them count, half of what moves. */
  function change(before, after, output) {
    if (!facts.classes) return (after.outputs[output].mean - before.outputs[output].mean) ** 2;
    return (before.probabilities.reduce((sum, one, index) => sum + Math.abs(after.probabilities[index] - one), 0) / 2) ** 2;
  }

  function show() {
    const { output } = state.values;
    const scales = facts.importance;
    const order = facts.inputs.map((_, input) => input).sort((a, b) => (shuffled ? shuffled[b] - shuffled[a] : scales[b] - scales[a]));
    const most = [Math.max(...scales), shuffled ? Math.max(...shuffled) : 1];
    const bar = (share) => {
      const fill = element("div", { class: "fill" });
      fill.style.width = `${100 * Math.min(share || 0, 1)}%`;
      return element("div", { class: "share", "aria-hidden": "true" }, fill);
    };
    const said = (value) => (facts.classes ? percentText(value) : numberText(value, facts.targets[output].deviation));
    body.replaceChildren(...order.slice(0, SHOWN).map((input) => element(
      "tr", {},
      element("th", { scope: "row", title: facts.inputs[input].name }, shortened(facts.inputs[input].name, 30)),
      element("td", {}, bar(shuffled ? shuffled[input] / most[1] : 0), element("span", {}, shuffled ? said(shuffled[input]) : "…")),
      element("td", {}, bar(scales[input] / most[0]), element("span", {}, numberText(scales[input], most[0]))),
    )));
  }

  state.watch(["output"], (values) => work("importance", 6, compute(values)));
  show();
  const head = ["", "answer moves by, if shuffled", "sensitivity"].map((text) => element("th", { scope: "col" }, text));
  const which = rows ? `${places.length} rows` : `${places.length} places made up within what the model has seen`;
  const hint = `Shuffled: of ${which}, each gets this one value from another; the number is the typical change of the answer${facts.classes ? " (probability that changes hands)" : ""}. `
    + "Sensitivity: one over the length-scale, in usual spreads: large where the answer changes over a short way. The two differ where an input matters only together with others, or the flow moves it first.";
  const more = facts.inputs.length > SHOWN ? element("p", { class: "hint" }, `The ${SHOWN} of ${facts.inputs.length} that matter most.`) : null;
  return card("importance", "Which values matter", element("table", { class: "bars" }, element("thead", {}, element("tr", {}, ...head)), body), more, element("p", { class: "hint" }, hint));
}

/** Evenly spread without a pattern: multiples of the golden ratio's powers. */
function madeUp({ inputs }) {
  return Array.from({ length: MOST_ROWS }, (_, index) =>
    Float32Array.from(inputs, ({ low, high }, input) => low + (((index + 1) * Math.sqrt(2 + 3 * input)) % 1) * (high - low)));
}
