// A slider and a number for every input.

import { card, element, shortened } from "./dom.js";
import { exactText, numberText } from "./numbers.js";
import { inputLabel, reachOf } from "./shown.js";

/** Places of a slider. */
const PLACES = 400;

export function inputsCard({ facts, rows, state }) {
  const list = element("div", { class: "sliders" }, ...facts.inputs.map((input, index) => slider(input, index, state)));
  const hint = element("p", { class: "hint" }, "The shaded part of a bar is what the model saw while it learned.");
  return card("inputs", "Values", rows ? rowChoice(rows, state) : null, middleButton(facts, state), list, hint);
}

/** One value of the inputs changed. */
export function withValue(x, index, value) {
  const changed = x.slice();
  changed[index] = value;
  return changed;
}

function slider(input, index, state) {
  const [from, to] = reachOf(input);
  const name = `input-${index}`;
  const change = (value) => {
    if (Number.isFinite(Math.fround(value))) state.set({ x: withValue(state.values.x, index, value) });
  };
  const range = element("input", {
    type: "range", id: name, min: 0, max: PLACES, step: 1,
    oninput: () => change(from + (Number(range.value) / PLACES) * (to - from)),
  });
  const number = element("input", {
    type: "number", step: "any", "aria-label": `${input.name}, as a number`,
    onchange: () => number.value !== "" && change(Number(number.value)),
  });
  const warning = element("span", { class: "outside", role: "status" });
  const seen = ((input.low - from) / (to - from)) * 100;
  range.style.setProperty("--from", `${seen}%`);
  range.style.setProperty("--to", `${100 - seen}%`);
  const label = element("label", { for: name, title: inputLabel(input) }, shortened(inputLabel(input), 60));
  const ends = [input.low, input.high].map((end) => numberText(end, input.deviation));
  const seenText = element("span", { class: "range" }, `seen: ${ends[0]} to ${ends[1]}`);
  const row = element("div", { class: "slider" }, label, number, range, element("div", { class: "below" }, seenText, warning));
  state.watch(["x", "isOutside"], ({ x, isOutside }) => {
    const value = x[index];
    range.value = Math.round(((value - from) / (to - from)) * PLACES);
    range.setAttribute("aria-valuetext", `${numberText(value, input.deviation)} ${input.unit ?? ""}`);
    if (document.activeElement !== number) number.value = exactText(value);
    const outside = isOutside[index];
    const text = outside ? "⚠ never seen" : "";
    if (warning.textContent !== text) warning.textContent = text;
    row.classList.toggle("is-outside", outside);
  });
  return row;
}

function middleButton(facts, state) {
  const x = Float32Array.from(facts.inputs, (input) => input.mean);
  return element("button", { type: "button", onclick: () => state.set({ x, key: 0, picked: null }) }, "All in the middle");
}

/** Steps through the rows inside. */
function rowChoice(rows, state) {
  const go = (index) => pickRow(rows, state, (index + rows.count) % rows.count);
  const place = element("output", { class: "row-number" });
  state.watch(["picked"], ({ picked }) => {
    place.textContent = picked === null ? "your own values" : `row ${rows.numbers[picked]} of the data`;
  });
  const button = (text, label, by) =>
    element("button", { type: "button", "aria-label": label, onclick: () => go((state.values.picked ?? -1) + by) }, text);
  return element("div", { class: "row-choice" }, button("‹", "the row before", -1), place, button("›", "the next row", 1));
}

/** Sets the sliders to a row of the data. */
export function pickRow(rows, state, index) {
  state.set({ x: rows.inputs(index), key: rows.numbers[index], picked: index });
}
