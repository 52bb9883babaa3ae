// How well the model does on the rows inside: promised against found, errors, and the worst rows.

import { card, choice, element, shortened } from "./dom.js";
import { Chart } from "./chart.js";
import { classColour, themeColour } from "./colours.js";
import { pickRow } from "./inputs.js";
import { numberText, percentText, widened } from "./numbers.js";
import { LEVELS } from "./runtime.js";
import { work } from "./schedule.js";
import { inputLabel, spreadOf } from "./shown.js";

const WORST = 8;
const BINS = 8;

export function rowsCard({ facts, runtime, rows, state }) {
  if (!rows) {
    const text = "There are no rows in this page. With a data file, `diffgp explore MODEL.dgp DATA.csv`, it shows here how right the model is.";
    return card("rows", "How right it is", element("p", {}, text));
  }
  let [answers, over] = [[], -1];
  const figures = element("div", { class: "figures" });
  const promised = new Chart("", 260, drawPromised);
  const errors = new Chart("", 260, drawErrors, { onpick: pickNearest });
  const worst = element("ol", { class: "worst" });
  const progress = element("p", { class: "hint", role: "status" });

  function* compute({ paths }) {
    const fresh = [];
    for (let index = 0; index < rows.count; index++) {
      fresh.push(runtime.predict(rows.inputs(index), paths, rows.numbers[index]));
      if (index % 20 === 0) progress.textContent = `Computing: ${index} of ${rows.count} rows.`;
      yield;
    }
    answers = fresh;
    progress.textContent = "";
    show();
  }

  /** True value, answer, and how far apart: of classes, the probability that the truth was not given. */
  function judged() {
    const { output } = state.values;
    return answers.flatMap((answer, index) => {
      if (!answer) return [];
      const truth = rows.targets(index);
      if (facts.classes) {
        const wrong = 1 - answer.probabilities[truth[0]];
        return [{ index, answer, truth: truth[0], error: wrong, at: Math.max(...answer.probabilities) }];
      }
      const said = answer.outputs[output];
      return [{ index, answer, truth: truth[output], error: truth[output] - said.mean, at: said.mean, said }];
    });
  }

  function show() {
    const all = judged();
    figures.replaceChildren(facts.classes ? classFigures(all) : targetFigures(all));
    const sorted = [...all].sort((a, b) => Math.abs(b.error) - Math.abs(a.error)).slice(0, WORST);
    worst.replaceChildren(...sorted.map((one) => {
      const press = () => {
        pickRow(rows, state, one.index);
        document.getElementById("inputs").scrollIntoView({ block: "nearest" });
      };
      return element("li", {}, element("button", { type: "button", onclick: press }, `row ${rows.numbers[one.index]}`), ` ${told(one)}`);
    }));
    promised.redraw();
    errors.redraw();
  }

  function told({ truth, answer, said }) {
    if (facts.classes) {
      const best = answer.probabilities.indexOf(Math.max(...answer.probabilities));
      const name = (index) => shortened(facts.classes[index], 30);
      return `is ${name(truth)}, given ${percentText(answer.probabilities[truth])}; likeliest ${name(best)}`;
    }
    const spread = spreadOf(facts, state.values.output);
    return `is ${numberText(truth, spread)}, answered ${numberText(said.mean, spread)} ± ${numberText(said.deviation, spread)}`;
  }

  /** Promised share, share found, its standard error. */
  function points(all) {
    const point = (promise, hits, count) => [promise, hits / count, Math.sqrt(Math.max(promise * (1 - promise), 0.25 / count) / count), count];
    if (!facts.classes) {
      return LEVELS.map((level, at) => {
        const hits = all.filter(({ said, truth }) => said.intervals[at][0] <= truth && truth <= said.intervals[at][1]).length;
        return point(level, hits, all.length);
      });
    }
    return Array.from({ length: BINS }, (_, bin) => {
      const inside = all.filter(({ at }) => Math.min(Math.floor(at * BINS), BINS - 1) === bin);
      const hits = inside.filter(({ answer, truth, at }) => answer.probabilities[truth] === at).length;
      const promise = inside.reduce((sum, { at }) => sum + at, 0) / inside.length;
      return point(promise, hits, inside.length);
    }).filter(([, , , count]) => count > 0);
  }

  function targetFigures(all) {
    const rmse = Math.sqrt(all.reduce((sum, { error }) => sum + error * error, 0) / all.length);
    const lines = points(all).map(([promise, found, error]) =>
      element("tr", {}, element("th", { scope: "row" }, `${Math.round(100 * promise)} %`), element("td", {}, `${percentText(found)} ± ${percentText(error)}`)));
    const head = element("tr", {}, element("th", { scope: "col" }, "promised"), element("th", { scope: "col" }, "found"));
    const typical = element("p", {}, "Typical error ", element("strong", { id: "rmse" }, numberText(rmse, rmse)), ` (root mean square), on ${all.length} rows.`);
    return element("div", {}, typical, element("table", {}, element("caption", {}, "True values inside the ranges"), element("thead", {}, head), element("tbody", {}, ...lines)));
  }

  function classFigures(all) {
    const right = all.filter(({ answer, truth, at }) => answer.probabilities[truth] === at).length;
    return element("p", {}, "The likeliest class is right in ", element("strong", { id: "accuracy" }, percentText(right / all.length)), ` of ${all.length} rows.`);
  }

  function drawPromised(chart) {
    const all = judged();
    if (all.length === 0) return;
    const low = facts.classes ? 0 : 0.4;
    chart.axes({ x: [low, 1], y: [low, 1.02], xLabel: "promised", yLabel: "found" });
    chart.inside(() => {
      chart.line([[0, 0], [1, 1]], themeColour("muted"), 1, 1, [5, 4]);
      for (const [promise, found, error] of points(all)) {
        chart.line([[promise, found - error], [promise, found + error]], themeColour("accent"), 2);
        chart.dot(promise, found, themeColour("accent"), 4);
      }
    });
    chart.label = `Found against promised shares: ${points(all).map(([promise, found]) => `${percentText(promise)}: ${percentText(found)}`).join(", ")}`;
  }

  const place = (one) => (over < 0 ? one.at : rows.inputs(one.index)[over]);

  function drawErrors(chart) {
    const all = judged();
    if (all.length === 0) return;
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const input = facts.inputs[over];
    const size = Math.max(...all.map(({ error }) => Math.abs(error)));
    const xLabel = input ? inputLabel(input) : facts.classes ? "largest probability" : "answer";
    const y = facts.classes ? [-0.03, 1.03] : widened([-size, size], 0.05);
    chart.axes({ x: widened(ends(all.map(place)), 0.04), y, xLabel, yLabel: facts.classes ? "1 − probability of the truth" : "truth − answer" });
    chart.inside(() => {
      chart.line([[-1e30, 0], [1e30, 0]].map(([x, zero]) => [Math.max(Math.min(x, chart.ends.x[1]), chart.ends.x[0]), zero]), themeColour("muted"), 1, 1, [5, 4]);
      for (const one of all) {
        const colour = facts.classes ? classColour(one.truth) : themeColour("accent");
        if (one.said) {
          const half = one.said.intervals[LEVELS.indexOf(0.95)].map((end) => end - one.said.mean);
          chart.line(half.map((end) => [place(one), end]), themeColour("muted"), 1, 0.25);
        }
        chart.dot(place(one), one.error, colour, 3);
      }
      const picked = all.find(({ index }) => index === state.values.picked);
      if (picked) chart.dot(place(picked), picked.error, themeColour("accent"), 6, themeColour("text"));
    });
    chart.label = `Errors of ${all.length} rows against ${xLabel}`;
  }

  function pickNearest(x, y, { ends }) {
    const away = (one) => Math.hypot((place(one) - x) / (ends.x[1] - ends.x[0]), (one.error - y) / (ends.y[1] - ends.y[0]));
    const all = judged();
    if (all.length > 0) pickRow(rows, state, all.reduce((best, next) => (away(next) < away(best) ? next : best)).index);
  }

  state.watch(["paths"], (values) => work("rows", 5, compute(values)));
  state.watch(["output"], () => answers.length > 0 && show());
  state.watch(["picked"], () => errors.redraw());
  const names = ["the answer", ...facts.inputs.map((input) => input.name)];
  const select = choice("Errors over", names, 0, (chosen) => {
    over = chosen - 1;
    errors.redraw();
  });
  const intro = element("p", {}, rows.described);
  const hint = element("p", { class: "hint" }, facts.classes
    ? "Dots on the dashed line: the model is right as often as it says. Click a dot to see that row."
    : "Dots on the dashed line: the ranges hold the truth as often as they say. Grey lines on the right: the 95 % ranges. Click a dot to see that row.");
  const pair = element("div", { class: "pair" }, element("div", {}, element("h3", {}, "Promised and found"), promised.element), element("div", {}, element("h3", {}, "Errors"), errors.element));
  return card("rows", "How right it is", intro, progress, figures, element("div", { class: "controls" }, select), pair, hint, element("h3", {}, "The rows with the largest errors"), worst);
}
