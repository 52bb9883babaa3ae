// What the model says of the values on the sliders.

import { card, choice, element, shortened } from "./dom.js";
import { exactText, numberText, percentText } from "./numbers.js";
import { classColour } from "./colours.js";
import { LEVELS } from "./runtime.js";

const PATHS = [0, 4, 8, 16, 32, 100];
/** Levels that are shown, the narrowest first. */
const SHOWN = [0.5, 0.9, 0.95];

export function answerCard(page) {
  const { facts, state, rows } = page;
  const parts = facts.classes ? [classesPart(page)] : facts.targets.map((_, output) => targetPart(page, output));
  const outside = element("p", { class: "outside", role: "status" });
  const truth = element("p", { class: "truth" });
  state.watch(["answer", "picked"], ({ answer, isOutside, picked }) => {
    const names = facts.inputs.filter((_, index) => isOutside[index]).map((input) => shortened(input.name, 40));
    const more = names.length > 4 ? ` and ${names.length - 4} more` : "";
    outside.textContent = names.length > 0
      ? `⚠ Take this with care: ${names.slice(0, 4).join(", ")}${more} ${names.length > 1 ? "are" : "is"} outside what the model has seen.`
      : "";
    if (answer === null) outside.textContent = "⚠ There is no answer for these values: the numbers become too large.";
    truth.textContent = rows && picked !== null && isOf(rows.inputs(picked), state.values.x) ? truthText(facts, rows, picked) : "";
  });
  return card("answer", "Answer", ...parts, truth, outside, facts.flow ? pathsChoice(state) : null);
}

function isOf(row, x) {
  return row.every((value, index) => value === x[index]);
}

function truthText(facts, rows, picked) {
  const values = rows.targets(picked);
  if (facts.classes) return `In the data this row is ${facts.classes[values[0]]}.`;
  const texts = facts.targets.map(({ name, unit, deviation }, output) => {
    const value = `${numberText(values[output], deviation)}${unit ? ` ${unit}` : ""}`;
    return facts.targets.length > 1 ? `${name} ${value}` : value;
  });
  return `In the data it is ${texts.join(", ")}.`;
}

function pathsChoice(state) {
  const names = PATHS.map((paths) => (paths === 0 ? "none: quick, ignores chance" : String(paths)));
  const select = choice("Ways tried:", names, PATHS.indexOf(state.values.paths), (index) => state.set({ paths: PATHS[index] }));
  select.querySelector("select").id = "paths";
  select.title = "Each is one random path through the flow; the answer is their average";
  return select;
}

/** Shown with as many digits as make sense; every digit is in `data-exact`. */
function showNumber(place, value, spread) {
  place.textContent = numberText(value, spread);
  place.dataset.exact = exactText(value);
  place.title = place.dataset.exact;
}

function targetPart({ facts, state }, output) {
  const target = facts.targets[output];
  const place = (what) => element("output", { "data-what": what });
  const [mean, deviation] = [place("mean"), place("deviation")];
  const rows = SHOWN.map((level) => {
    const ends = [place(`low_${100 * level}`), place(`high_${100 * level}`)];
    return { level, ends, line: element("tr", {}, element("th", { scope: "row" }, `${100 * level} %`), element("td", {}, ends[0], " to ", ends[1])) };
  });
  const bar = element("div", { class: "bar", "aria-hidden": "true" });
  const pieces = SHOWN.map((level) => element("div", { class: `interval level-${100 * level}` })).reverse();
  const middle = element("div", { class: "middle" });
  const ticks = [element("span", { class: "end low" }), element("span", { class: "end high" })];
  bar.append(...pieces, middle, ...ticks);
  state.watch(["answer"], ({ answer }) => {
    if (answer === null) return;
    const said = answer.outputs[output];
    showNumber(mean, said.mean, said.deviation);
    showNumber(deviation, said.deviation, said.deviation);
    const widest = said.intervals[LEVELS.indexOf(0.95)];
    const low = Math.min(target.mean - 3 * target.deviation, widest[0]);
    const high = Math.max(target.mean + 3 * target.deviation, widest[1]);
    const share = (value) => `${(100 * (value - low)) / (high - low)}%`;
    rows.forEach(({ level, ends }, index) => {
      const interval = said.intervals[LEVELS.indexOf(level)];
      ends.forEach((end, side) => showNumber(end, interval[side], said.deviation));
      const piece = pieces[SHOWN.length - 1 - index];
      piece.style.left = share(interval[0]);
      piece.style.right = `calc(100% - ${share(interval[1])})`;
    });
    middle.style.left = share(said.mean);
    ticks.forEach((tick, side) => (tick.textContent = numberText([low, high][side], high - low)));
  });
  const table = element(
    "table", { class: "intervals" },
    element("caption", {}, "The true value should lie in these ranges so often:"),
    element("tbody", {}, ...rows.map((row) => row.line)),
  );
  const name = element("div", { class: "target", title: target.name }, shortened(target.name, 60));
  const value = element("p", { class: "value" }, mean, target.unit ? ` ${target.unit}` : "", element("small", {}, " ± ", deviation));
  return element("div", { class: "said", "data-output": output }, name, value, bar, table);
}

function classesPart({ facts, state }) {
  const lines = facts.classes.map((name, index) => {
    const probability = element("output", { "data-class": index });
    const fill = element("div", { class: "fill" });
    fill.style.background = classColour(index);
    const label = element("span", { class: "class-name", title: name }, shortened(name, 40));
    const line = element("li", {}, label, element("div", { class: "share", "aria-hidden": "true" }, fill), probability);
    return { probability, fill, line };
  });
  const said = element("p", { class: "value" });
  state.watch(["answer"], ({ answer }) => {
    if (answer === null) return;
    const best = answer.probabilities.indexOf(Math.max(...answer.probabilities));
    said.textContent = shortened(facts.classes[best], 60);
    lines.forEach(({ probability, fill, line }, index) => {
      showNumber(probability, answer.probabilities[index], 0.1);
      probability.textContent = percentText(answer.probabilities[index]);
      fill.style.width = `${100 * answer.probabilities[index]}%`;
      line.classList.toggle("best", index === best);
    });
  });
  const target = element("div", { class: "target" }, `${shortened(facts.targets[0].name, 60)}, most likely`);
  return element("div", { class: "said" }, target, said, element("ul", { class: "classes" }, ...lines.map((line) => line.line)));
}
