// The flow: rows, or a grid, carried through flow time in any two inputs.

import { card, choice, element, tick } from "./dom.js";
import { Chart } from "./chart.js";
import { amountColour, classColour, themeColour } from "./colours.js";
import { pickRow, withValue } from "./inputs.js";
import { middleOf, numberText, widened } from "./numbers.js";
import { work } from "./schedule.js";
import { axisOf, inputLabel, shownOf } from "./shown.js";

/** Milliseconds from the beginning of the flow to its end. */
const PLAYED = 5000;
/** Points of the grid along each side, and arrows. */
const SIDE = 15;
const ARROWS = 15;

export function flowCard(page) {
  const { facts, runtime, rows, state } = page;
  if (!facts.flow) {
    const text = "This model answers directly: it has no flow, which would first move the values to where they are easy to answer for.";
    return card("flow", "The flow", element("p", {}, text));
  }
  const inputs = facts.inputs.length > 1 ? [0, 1] : [0, null];
  const { time: end, steps } = facts.flow;
  let [particles, arrows, axes] = [[], [], null];
  let [fromRows, sampled, withArrows] = [rows !== null, true, true];
  let [now, playing, before] = [0, false, 0];

  const chart = new Chart("", 420, draw, { onpick: pick });
  const isLine = inputs[1] === null;

  /** Where the particles begin, and what colours them. */
  function starts() {
    if (fromRows) {
      return Array.from({ length: rows.count }, (_, index) => ({ x: rows.inputs(index), key: rows.numbers[index], index }));
    }
    const place = (axis, at, count) => {
      const { low, high } = facts.inputs[inputs[axis]];
      return low + (at / (count - 1)) * (high - low);
    };
    const x = state.values.x;
    if (isLine) {
      return Array.from({ length: 3 * SIDE }, (_, at) => ({ x: Float32Array.of(place(0, at, 3 * SIDE)), key: at, index: null }));
    }
    return Array.from({ length: SIDE * SIDE }, (_, at) => {
      const row = withValue(x, inputs[0], place(0, at % SIDE, SIDE));
      return { x: withValue(row, inputs[1], place(1, Math.floor(at / SIDE), SIDE)), key: at, index: null };
    });
  }

  function* compute() {
    const made = [];
    for (const start of starts()) {
      const path = runtime.path(start.x, sampled, start.key, 0);
      if (path) made.push({ ...start, path, colour: yield* colourOf(start) });
      yield;
    }
    const span = (axis, share) => middleOf(made.flatMap(({ path }) => places(path, axis)), share);
    axes = { x: isLine ? [0, end] : widened(span(0, 0.98), 0.08), y: widened(span(isLine ? 0 : 1, 0.98), 0.08) };
    particles = made;
    paint();
    chart.redraw();
    arrows = [];
    if (!isLine) yield* computeArrows();
    chart.redraw();
  }

  /** An amount from the truth of a row, or from the answer for a place of the grid. */
  function* colourOf({ x, key, index }) {
    const { output } = state.values;
    if (index !== null) {
      const truth = rows.targets(index);
      return facts.classes ? { class: truth[0] } : { amount: truth[output] };
    }
    const answer = runtime.predict(x, 0, key);
    yield;
    if (!answer) return { amount: NaN };
    if (!facts.classes) return { amount: shownOf(facts, answer, output).value };
    return { class: answer.probabilities.indexOf(Math.max(...answer.probabilities)) };
  }

  function paint() {
    if (facts.classes) {
      for (const particle of particles) particle.fill = classColour(particle.colour.class);
      return;
    }
    const [low, high] = middleOf(particles.map((particle) => particle.colour.amount), 0.96);
    for (const particle of particles) particle.fill = amountColour((particle.colour.amount - low) / (high - low || 1));
    legend.textContent = "";
    legend.append(numberText(low, high - low), element("span", { class: "ramp" }), numberText(high, high - low));
  }

  function* computeArrows() {
    const made = [];
    for (let index = 0; index < ARROWS * ARROWS; index++) {
      const at = [index % ARROWS, Math.floor(index / ARROWS)].map((cell, axis) => {
        const [low, high] = axis === 0 ? axes.x : axes.y;
        return low + ((cell + 0.5) / ARROWS) * (high - low);
      });
      const drift = runtime.drift(withValue(withValue(state.values.x, inputs[0], at[0]), inputs[1], at[1]));
      if (drift) made.push({ at, by: [drift[inputs[0]], drift[inputs[1]]] });
      yield;
    }
    arrows = made;
  }

  /** One input of all states of a path. */
  function places(path, axis) {
    const count = facts.inputs.length;
    return Array.from({ length: steps + 1 }, (_, step) => path[step * count + inputs[axis]]);
  }

  /** Where a particle has been until now: straight lines between the steps. */
  function trail({ path }) {
    const [one, other] = [places(path, 0), isLine ? null : places(path, 1)];
    const point = (step) => (isLine ? [(step / steps) * end, one[step]] : [one[step], other[step]]);
    const whole = Math.min(Math.floor((now / end) * steps), steps);
    const points = Array.from({ length: whole + 1 }, (_, step) => point(step));
    const part = (now / end) * steps - whole;
    if (part > 0 && whole < steps) {
      const [from, to] = [point(whole), point(whole + 1)];
      points.push(from.map((value, axis) => value + part * (to[axis] - value)));
    }
    return points;
  }

  function draw() {
    if (!axes) return;
    const [a, b] = inputs;
    chart.axes({
      ...axes,
      xLabel: isLine ? "flow time" : inputLabel(facts.inputs[a]),
      yLabel: inputLabel(facts.inputs[isLine ? a : b]),
    });
    chart.inside((context) => {
      if (withArrows && !isLine) drawArrows(context);
      const trails = particles.map(trail);
      const thin = particles.length > 120 ? 0.3 : 0.5;
      trails.forEach((points, index) => chart.line(points, particles[index].fill, 1, thin));
      trails.forEach((points, index) => chart.dot(...points.at(-1), particles[index].fill, particles.length > 120 ? 3 : 4, themeColour("muted"), 0.75));
      drawPicked(trails);
    });
    chart.label = `${particles.length} points at flow time ${numberText(now, end)} of ${numberText(end, end)}`;
  }

  /** The longest is as long as the distance between two. */
  function drawArrows(context) {
    const [width, height] = [chart.box.right - chart.box.left, chart.box.bottom - chart.box.top];
    const inPixels = ({ by }) => [(by[0] / (axes.x[1] - axes.x[0])) * width, (-by[1] / (axes.y[1] - axes.y[0])) * height];
    const longest = Math.max(...arrows.map((arrow) => Math.hypot(...inPixels(arrow))), 1e-30);
    Object.assign(context, { strokeStyle: themeColour("muted"), fillStyle: themeColour("muted"), lineWidth: 1, globalAlpha: 0.6 });
    for (const arrow of arrows) {
      const [dx, dy] = inPixels(arrow).map((length) => (length / longest) * (width / ARROWS));
      const [x, y] = [chart.x(arrow.at[0]), chart.y(arrow.at[1])];
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + dx, y + dy);
      context.stroke();
      const turn = Math.atan2(dy, dx);
      // A short arrow has a small head.
      const size = Math.min(Math.hypot(dx, dy) / 8, 1);
      context.beginPath();
      for (const [by, back] of [[0, 0], [2.6, 5], [-2.6, 5]]) {
        const [along, aside] = [-back * size, by * size];
        context.lineTo(x + dx + along * Math.cos(turn) - aside * Math.sin(turn), y + dy + along * Math.sin(turn) + aside * Math.cos(turn));
      }
      context.fill();
    }
    context.globalAlpha = 1;
  }

  function drawPicked(trails) {
    const index = particles.findIndex((particle) => particle.index !== null && particle.index === state.values.picked);
    if (index < 0) return;
    chart.line(trails[index], themeColour("text"), 2.5);
    chart.dot(...trails[index].at(-1), particles[index].fill, 6, themeColour("text"));
  }

  function pick(x, y) {
    if (!fromRows || !axes) return;
    const away = (particle) => {
      const [px, py] = trail(particle).at(-1);
      return Math.hypot((px - x) / (axes.x[1] - axes.x[0]), (py - y) / (axes.y[1] - axes.y[0]));
    };
    const nearest = particles.reduce((best, next) => (away(next) < away(best) ? next : best), particles[0]);
    if (nearest) pickRow(rows, state, nearest.index);
  }

  // Playing.
  const scrub = element("input", { type: "range", min: 0, max: 1000, value: 0, id: "flow-time", "aria-label": "flow time", oninput: () => {
    stop();
    moveTo((Number(scrub.value) / 1000) * end);
  } });
  const clock = element("output", { id: "flow-clock" });
  const button = element("button", { type: "button", id: "flow-play", onclick: () => (playing ? stop() : play()) }, "Play");

  function moveTo(time) {
    now = time;
    scrub.value = Math.round((1000 * time) / end);
    clock.textContent = `t = ${numberText(time, end)}`;
    chart.redraw();
  }

  function play() {
    playing = true;
    button.textContent = "Pause";
    if (now >= end) moveTo(0);
    before = performance.now();
    requestAnimationFrame(tock);
  }

  function stop() {
    playing = false;
    button.textContent = "Play";
  }

  function tock(time) {
    if (!playing) return;
    moveTo(Math.min(now + (Math.max(time - before, 0) / PLAYED) * end, end));
    before = time;
    if (now >= end) stop();
    else requestAnimationFrame(tock);
  }

  const restart = () => work("flow", 3, compute());
  const names = facts.inputs.map((input) => input.name);
  const selects = isLine ? [] : ["Across", "Up"].map((label, axis) =>
    choice(label, names, inputs[axis], (chosen) => {
      inputs[axis] = chosen;
      restart();
    }));
  const what = rows && choice("Show", ["rows of the data", "an even grid"], 0, (chosen) => {
    fromRows = chosen === 0;
    restart();
  });
  const boxes = [
    tick("with chance", sampled, (checked) => {
      sampled = checked;
      restart();
    }),
    isLine ? null : tick("arrows of the drift", withArrows, (checked) => {
      withArrows = checked;
      chart.redraw();
    }),
  ];
  const legend = element("div", { class: "legend" });
  const title = element("span");
  state.watch(["output"], ({ output }) => {
    title.textContent = facts.classes ? "Coloured by class" : `Coloured by ${axisOf(facts, output)}`;
    if (particles.length > 0) restart();
  });
  let wait = null;
  state.watch(["x"], () => {
    // Rows do not move with the sliders, the grid and the arrows do.
    clearTimeout(wait);
    wait = setTimeout(restart, particles.length === 0 ? 0 : 250);
  });
  state.watch(["picked"], () => chart.redraw());
  if (facts.classes) {
    facts.classes.forEach((name, index) => {
      const patch = element("span", { class: "patch" });
      patch.style.background = classColour(index);
      legend.append(patch, name, " ");
    });
  }
  moveTo(0);
  const intro = element("p", {}, "Before it answers, the model lets the values drift to where they are easy to answer for. Press play and watch them go; points of one colour should end up together.");
  const far = facts.flow.timed ? " The arrows show the drift at the beginning; it changes on the way." : "";
  const hint = element("p", { class: "hint" }, `The model moves in ${steps} steps; between them the lines are straight.${fromRows ? " Click a point to follow that row." : ""}${far}`);
  return card("flow", "The flow", intro, element("div", { class: "controls" }, what, ...selects, ...boxes), element("div", { class: "controls" }, button, scrub, clock), element("div", { class: "legend-line" }, title, legend), chart.element, hint);
}

