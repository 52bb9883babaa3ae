// The decision path: what the flow does to the values on the sliders, input by input.

import { card, element, shortened } from "./dom.js";
import { Chart } from "./chart.js";
import { themeColour } from "./colours.js";
import { numberText, widened } from "./numbers.js";
import { work } from "./schedule.js";

/** Inputs shown at most: those that are moved furthest. */
const SHOWN = 8;
const SAMPLES = 12;

export function decisionCard({ facts, runtime, state }) {
  if (!facts.flow) return null;
  const { steps, time } = facts.flow;
  const count = facts.inputs.length;
  const list = element("ol", { class: "moved" });
  const panels = element("div", { class: "panels" });
  const shown = Math.min(SHOWN, count);
  let [drift, sampled, order] = [null, [], []];
  const charts = Array.from({ length: shown }, (_, place) => new Chart("", 130, (chart) => draw(chart, order[place]), { small: true }));
  panels.append(...charts.map((chart) => chart.element));

  const along = (path, input) => Array.from({ length: steps + 1 }, (_, step) => [(step / steps) * time, path[step * count + input]]);
  const moved = (input) => (drift[steps * count + input] - drift[input]) / facts.inputs[input].deviation;

  function* compute({ x, key }) {
    const path = runtime.path(x, false, key, 0);
    if (!path) return;
    const fresh = [];
    for (let index = 0; index < SAMPLES; index++) {
      const sample = runtime.path(x, true, key, index);
      if (sample) fresh.push(sample);
      yield;
    }
    [drift, sampled] = [path, fresh];
    order = facts.inputs.map((_, input) => input).sort((a, b) => Math.abs(moved(b)) - Math.abs(moved(a))).slice(0, shown);
    list.replaceChildren(...order.slice(0, 3).map((input) => {
      const { name, deviation, unit } = facts.inputs[input];
      const by = moved(input) * deviation;
      const text = ` by ${by > 0 ? "+" : ""}${numberText(by, deviation)}${unit ? ` ${unit}` : ""}, ${Math.abs(moved(input)).toFixed(2)} of its usual spread`;
      return element("li", {}, element("strong", {}, shortened(name, 60)), text);
    }));
    charts.forEach((chart) => chart.redraw());
  }

  function draw(chart, input) {
    if (!drift || input === undefined) return;
    const lines = [drift, ...sampled].map((path) => along(path, input));
    const values = lines.flat().map(([, value]) => value);
    const { name } = facts.inputs[input];
    chart.axes({ x: [0, time], y: widened([Math.min(...values), Math.max(...values)], 0.1), yLabel: name });
    chart.inside(() => {
      for (const line of lines.slice(1)) chart.line(line, themeColour("accent"), 1, 0.4);
      chart.line(lines[0], themeColour("text"), 2.5);
    });
    chart.label = `${name} over flow time, from ${numberText(drift[input], facts.inputs[input].deviation)} to ${numberText(drift[steps * count + input], facts.inputs[input].deviation)}`;
  }

  state.watch(["x", "key"], (values) => work("decision", 4, compute(values)));
  const intro = element("p", {}, "What the flow does to the values on the sliders. It moves most:");
  const hint = element("p", { class: "hint" }, "Bold: without chance. Thin: with chance, as the answer uses them. The usual spread is one standard deviation in training.");
  return card("decision", "The way of these values", intro, list, panels, hint);
}
