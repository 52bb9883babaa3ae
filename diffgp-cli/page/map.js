// How the answer and the doubt depend on two inputs, the others held where the sliders are.

import { card, choice, element } from "./dom.js";
import { Chart } from "./chart.js";
import { amountColour, amountRgb, themeColour } from "./colours.js";
import { withValue } from "./inputs.js";
import { numberText } from "./numbers.js";
import { work } from "./schedule.js";
import { axisOf, inputLabel, reachOf, shownOf } from "./shown.js";

/** Squares along one side, coarse first. */
const SIDES = [8, 16, 32];
const MOST_PATHS = 8;

export function mapCard({ facts, runtime, state }) {
  if (facts.inputs.length < 2) return null;
  const inputs = [0, 1];
  let known = null;
  const pick = (a, b) => state.set({ x: withValue(withValue(state.values.x, inputs[0], a), inputs[1], b) });
  const [values, doubts] = ["value", "doubt"].map((what) => new Chart("", 320, (chart) => draw(chart, what), { onpick: pick }));

  function* compute({ x, paths, key }) {
    for (const side of SIDES) {
      const cells = [];
      for (let index = 0; index < side * side; index++) {
        const place = [index % side, Math.floor(index / side)].map((at, axis) => {
          const [from, to] = reachOf(facts.inputs[inputs[axis]]);
          return from + ((at + 0.5) / side) * (to - from);
        });
        const row = withValue(withValue(x, inputs[0], place[0]), inputs[1], place[1]);
        cells.push(runtime.predict(row, Math.min(paths, MOST_PATHS), key));
        yield;
      }
      known = { side, cells, inputs: inputs.slice() };
      paint();
      redraw();
      yield;
    }
  }

  /** Pictures of what is known; they stay while sliders move. */
  function paint() {
    const answers = known.cells.map((answer) => answer && shownOf(facts, answer, state.values.output));
    for (const what of ["value", "doubt"]) {
      const numbers = answers.map((answer) => (answer ? answer[what] : NaN));
      const finite = numbers.filter(Number.isFinite);
      const ends = facts.classes ? [0, 1] : [Math.min(...finite), Math.max(...finite)];
      known[what] = { ends, picture: picture(numbers, known.side, ends) };
    }
  }

  function redraw() {
    values.redraw();
    doubts.redraw();
  }

  function draw(chart, what) {
    const { x, output } = state.values;
    if (!known) return;
    const [low, high] = known[what].ends;
    const [a, b] = known.inputs;
    const [across, up] = [reachOf(facts.inputs[a]), reachOf(facts.inputs[b])];
    const context = chart.context;
    // Room for the key on the right.
    const key = 66;
    chart.width -= key;
    chart.axes({ x: across, y: up, xLabel: inputLabel(facts.inputs[a]), yLabel: inputLabel(facts.inputs[b]) });
    chart.width += key;
    const { left, right, top, bottom } = chart.box;
    chart.inside(() => {
      context.imageSmoothingEnabled = false;
      context.drawImage(known[what].picture, left, top, right - left, bottom - top);
      frame(context, chart);
      chart.line([[x[a], up[0]], [x[a], up[1]]], "#fff", 1, 0.9, [4, 3]);
      chart.line([[across[0], x[b]], [across[1], x[b]]], "#fff", 1, 0.9, [4, 3]);
      chart.dot(x[a], x[b], "#d55e00", 5, "#fff");
    });
    drawKey(context, right + 14, top, bottom, [low, high]);
    const said = what === "value" ? axisOf(facts, output) : "how unsure the model is";
    chart.label = `Map of ${said} over ${facts.inputs[a].name} and ${facts.inputs[b].name}, from ${numberText(low, high - low)} to ${numberText(high, high - low)}`;
  }

  /** Around what training has seen. */
  function frame(context, chart) {
    const [a, b] = known.inputs.map((index) => facts.inputs[index]);
    Object.assign(context, { strokeStyle: "#fff", lineWidth: 1.5 });
    context.strokeRect(chart.x(a.low), chart.y(b.high), chart.x(a.high) - chart.x(a.low), chart.y(b.low) - chart.y(b.high));
  }

  const restart = (present) => work("map", 2, compute(present));
  state.watch(["x", "paths", "key"], (present) => {
    redraw();
    restart(present);
  });
  const titles = [element("h3"), element("h3")];
  state.watch(["output"], ({ output }) => {
    titles[0].textContent = facts.classes ? `Probability of ${facts.classes[output]}` : "The answer";
    titles[1].textContent = facts.classes ? "Doubt: probability of all but the likeliest class" : "How unsure: one standard deviation";
    if (known) paint();
    redraw();
  });
  const names = facts.inputs.map((one) => one.name);
  const selects = ["Across", "Up"].map((label, axis) =>
    choice(label, names, inputs[axis], (chosen) => {
      inputs[axis] = chosen;
      restart(state.values);
    }));
  const pictures = element("div", { class: "pair" }, ...[values, doubts].map((chart, index) => element("div", {}, titles[index], chart.element)));
  const paths = facts.flow ? ` At most ${MOST_PATHS} ways are tried for each place.` : "";
  const hint = element("p", { class: "hint" }, `The white frame is what the model has seen. Drag in a picture to move both sliders.${paths}`);
  return card("map", "Two values at a time", element("div", { class: "controls" }, ...selects), pictures, hint);
}

/** A square of `side` times `side` dots, the first row at the bottom. */
function picture(numbers, side, [low, high]) {
  const canvas = element("canvas", { width: side, height: side });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  numbers.forEach((number, index) => {
    const at = 4 * ((side - 1 - Math.floor(index / side)) * side + (index % side));
    if (!Number.isFinite(number)) return;
    image.data.set([...amountRgb(high > low ? (number - low) / (high - low) : 0.5), 255], at);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function drawKey(context, left, top, bottom, [low, high]) {
  const ramp = context.createLinearGradient(0, bottom, 0, top);
  for (let stop = 0; stop <= 9; stop++) ramp.addColorStop(stop / 9, amountColour(stop / 9));
  context.fillStyle = ramp;
  context.fillRect(left, top, 10, bottom - top);
  Object.assign(context, { fillStyle: themeColour("muted"), textAlign: "left" });
  for (const share of [0, 0.5, 1]) {
    context.fillText(numberText(low + share * (high - low), high - low), left + 14, bottom - share * (bottom - top));
  }
}
