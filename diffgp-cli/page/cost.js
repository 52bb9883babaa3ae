// What an answer costs on a device.

import { card, element } from "./dom.js";
import { countText, numberText } from "./numbers.js";

export function costCard({ facts, state }) {
  const { bytes, ram, stack, boards } = facts.cost;
  const body = element("tbody");
  const intro = element("p", {}, `The model is ${countText(bytes)} bytes. A device needs ${countText(ram)} bytes of memory for it, and about ${countText(stack)} bytes of stack.`);
  const title = element("caption");
  state.watch(["paths"], ({ paths }) => {
    title.textContent = paths === 0 || !facts.flow ? "One answer" : `One answer over ${paths} ways`;
    body.replaceChildren(...boards.map(({ name, megahertz, along_drift, per_path }) => {
      const instructions = paths === 0 ? along_drift : per_path * (facts.flow ? paths : 1);
      const milliseconds = instructions / (1000 * megahertz);
      const cells = [`${megahertz} MHz`, countText(instructions), time(milliseconds)];
      return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));
    }));
  });
  const head = ["processor", "clock", "instructions", "time"].map((text) => element("th", { scope: "col" }, text));
  const table = element("table", {}, title, element("thead", {}, element("tr", {}, ...head)), body);
  return card("cost", "What it costs on a device", intro, table, element("p", { class: "hint" }, "Estimated from counted work; times at one instruction per clock."));
}

function time(milliseconds) {
  return milliseconds >= 1000 ? `${numberText(milliseconds / 1000, milliseconds / 1000)} s` : `${numberText(milliseconds, milliseconds)} ms`;
}
