// How the answer depends on one input, the others held where the sliders are.

import { card, choice, element } from "./dom.js";
import { Chart } from "./chart.js";
import { classColour, themeColour } from "./colours.js";
import { withValue } from "./inputs.js";
import { LEVELS } from "./runtime.js";
import { axisOf, inputLabel, reachOf, shownOf } from "./shown.js";
import { widened } from "./numbers.js";
import { work } from "./schedule.js";

/** Places on the curve: a power of two and one, so that a coarse curve can be filled in. */
const PLACES = 65;
const BANDS = [[0.95, 0.15], [0.9, 0.2], [0.5, 0.3]];

export function curveCard({ facts, runtime, state }) {
  const all = () => Array(PLACES).fill(null);
  let [input, points] = [0, all()];
  const place = (index) => {
    const [from, to] = reachOf(facts.inputs[input]);
    return Math.fround(from + (index / (PLACES - 1)) * (to - from));
  };
  const chart = new Chart("", 300, draw, { onpick: (x) => state.set({ x: withValue(state.values.x, input, x) }) });

  function* compute({ x, paths, key }) {
    const fresh = all();
    for (let step = (PLACES - 1) / 8; step >= 1; step /= 2) {
      for (let index = 0; index < PLACES; index += step) {
        if (fresh[index]) continue;
        fresh[index] = runtime.predict(withValue(x, input, place(index)), paths, key);
        yield;
      }
      points = fresh.slice();
      chart.redraw();
    }
  }

  function draw() {
    const { x, output } = state.values;
    const range = reachOf(facts.inputs[input]);
    const known = points.map((answer, index) => answer && { at: place(index), ...shownOf(facts, answer, output), answer });
    const drawn = known.filter(Boolean);
    const ends = facts.classes
      ? [0, 1]
      : widened(drawn.flatMap((point) => point.intervals[LEVELS.indexOf(0.95)])
          .reduce(([low, high], end) => [Math.min(low, end), Math.max(high, end)], [Infinity, -Infinity]), 0.05);
    if (drawn.length === 0) return;
    chart.axes({ x: range, y: ends, xLabel: inputLabel(facts.inputs[input]), yLabel: facts.classes ? "probability" : axisOf(facts, output) });
    chart.inside((context) => {
      context.fillStyle = themeColour("unseen");
      const { low, high } = facts.inputs[input];
      for (const [from, to] of [[range[0], low], [high, range[1]]]) {
        context.fillRect(chart.x(from), chart.box.top, chart.x(to) - chart.x(from), chart.box.bottom - chart.box.top);
      }
      if (facts.classes) {
        facts.classes.forEach((_, index) => {
          const line = drawn.map((point) => [point.at, point.answer.probabilities[index]]);
          chart.line(line, classColour(index), index === output ? 4 : 2, 1, index >= 8 ? [6, 4] : []);
        });
      } else {
        for (const [level, alpha] of BANDS) {
          const at = LEVELS.indexOf(level);
          chart.band(drawn.map((point) => [point.at, ...point.intervals[at]]), themeColour("accent"), alpha);
        }
        chart.line(drawn.map((point) => [point.at, point.value]), themeColour("accent"), 2.5);
      }
      chart.line([[x[input], ends[0]], [x[input], ends[1]]], themeColour("text"), 1.5, 1, [5, 4]);
    });
    chart.label = `${axisOf(facts, output)} over ${facts.inputs[input].name}, the other values as on the sliders`;
  }

  const restart = (values) => work("curve", 1, compute(values));
  state.watch(["x", "paths", "key"], restart);
  state.watch(["output"], () => chart.redraw());
  const select = choice("Over", facts.inputs.map((one) => one.name), input, (chosen) => {
    [input, points] = [chosen, all()];
    restart(state.values);
  });
  const text = facts.classes
    ? "One line per class; the thick one is the class chosen above the pictures."
    : "The line is the answer; the shades hold the true value in 50, 90 and 95 of 100 cases.";
  const hint = element("p", { class: "hint" }, `${text} Drag in the picture to move the slider. Grey: never seen.`);
  return card("curve", "One value at a time", element("div", { class: "controls" }, select), chart.element, hint);
}
