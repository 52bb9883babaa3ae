// A canvas with axes.

import { element, shortened } from "./dom.js";
import { tickTexts, ticksBetween } from "./numbers.js";
import { themeColour } from "./colours.js";

const FONT = "12px system-ui, sans-serif";
const charts = new Set();

/** Draws everything again, after the colours of the page have changed. */
export function redrawAll() {
  for (const chart of charts) chart.redraw();
}

/** As much of a text as is not wider. */
function fitted(context, text, width) {
  let most = Math.floor(width / 3);
  let fitting = shortened(text, most);
  for (let wide = context.measureText(fitting).width; wide > width && most > 2; wide = context.measureText(fitting).width) {
    most = Math.min(most - 1, Math.floor((Array.from(fitting).length * width) / wide));
    fitting = shortened(text, most);
  }
  return fitting;
}

export class Chart {
  #draw;
  #canvas;
  #height;
  #small;

  /** `draw` is called with this chart whenever it has to be drawn; `onpick` with the place that is pointed at. */
  constructor(label, height, draw, { onpick, small = false } = {}) {
    this.#draw = draw;
    this.#height = height;
    this.#small = small;
    this.#canvas = element("canvas", { role: "img", "aria-label": label });
    this.element = element("div", { class: onpick ? "chart pickable" : "chart" }, this.#canvas);
    this.element.style.height = `${height}px`;
    if (onpick) this.#listen(onpick);
    new ResizeObserver(() => this.redraw()).observe(this.element);
    charts.add(this);
  }

  /** What a screen reader says of the picture. */
  set label(text) {
    this.#canvas.setAttribute("aria-label", text);
  }

  redraw() {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(this.#height * ratio);
    this.context = this.#canvas.getContext("2d");
    this.context.scale(ratio, ratio);
    this.context.font = FONT;
    this.width = width;
    this.height = this.#height;
    this.box = null;
    this.#draw(this);
  }

  /** Axes with these ends; afterwards `x` and `y` turn values into places, and drawing is cut to the inside. */
  axes({ x, y, xLabel = "", yLabel = "" }) {
    const [context, small] = [this.context, this.#small];
    const [xTicks, yTicks] = [ticksBetween(...x, this.width / (small ? 90 : 80)), ticksBetween(...y, this.height / 50)];
    const [xTexts, yTexts] = [tickTexts(xTicks), tickTexts(yTicks)];
    const width = (text) => context.measureText(text).width;
    const left = (small ? 4 : 22) + Math.max(...yTexts.map(width)) + 6;
    // The last tick may stand at the end.
    const box = { left, right: this.width - Math.max(width(xTexts.at(-1)) / 2, 6) - 2, top: small ? 20 : 10, bottom: this.height - (small ? 18 : 40) };
    this.box = box;
    this.ends = { x, y };
    this.x = (value) => box.left + ((value - x[0]) / (x[1] - x[0])) * (box.right - box.left);
    this.y = (value) => box.bottom - ((value - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
    context.fillStyle = themeColour("muted");
    context.strokeStyle = themeColour("grid");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    for (const [index, tick] of yTicks.entries()) {
      this.#stroke([[box.left, this.y(tick)], [box.right, this.y(tick)]]);
      context.textAlign = "right";
      context.fillText(yTexts[index], box.left - 5, this.y(tick));
    }
    for (const [index, tick] of xTicks.entries()) {
      this.#stroke([[this.x(tick), box.top], [this.x(tick), box.bottom]]);
      context.textAlign = "center";
      context.fillText(xTexts[index], this.x(tick), box.bottom + 11);
    }
    if (small) {
      context.fillStyle = themeColour("text");
      context.textAlign = "left";
      context.fillText(fitted(context, yLabel, this.width - 4), 2, 9);
    } else {
      context.fillText(fitted(context, xLabel, this.width - box.left), (box.left + box.right) / 2, this.height - 9);
      context.save();
      context.translate(9, (box.top + box.bottom) / 2);
      context.rotate(-Math.PI / 2);
      context.textAlign = "center";
      context.fillText(fitted(context, yLabel, this.height - 20), 0, 0);
      context.restore();
    }
  }

  /** Draws inside the axes only. */
  inside(draw) {
    const { left, right, top, bottom } = this.box;
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, right - left, bottom - top);
    this.context.clip();
    draw(this.context);
    this.context.restore();
  }

  /** A line through values [x, y]. */
  line(points, colour, width = 2, alpha = 1, dashes = []) {
    this.context.save();
    Object.assign(this.context, { strokeStyle: colour, lineWidth: width, globalAlpha: alpha, lineJoin: "round" });
    this.context.setLineDash(dashes);
    this.#stroke(points.map(([x, y]) => [this.x(x), this.y(y)]));
    this.context.restore();
  }

  /** The area between the values [x, low, high]. */
  band(points, colour, alpha) {
    this.context.save();
    Object.assign(this.context, { fillStyle: colour, globalAlpha: alpha });
    this.context.beginPath();
    for (const [x, low] of points) this.context.lineTo(this.x(x), this.y(low));
    for (const [x, , high] of [...points].reverse()) this.context.lineTo(this.x(x), this.y(high));
    this.context.fill();
    this.context.restore();
  }

  /** A dot, with a ring around it if it is to be seen among others. */
  dot(x, y, colour, size = 3, ring = null, ringWidth = 2) {
    const context = this.context;
    context.beginPath();
    context.arc(this.x(x), this.y(y), size, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    if (ring) {
      Object.assign(context, { strokeStyle: ring, lineWidth: ringWidth });
      context.stroke();
    }
  }

  #stroke(places) {
    this.context.beginPath();
    for (const [x, y] of places) this.context.lineTo(x, y);
    this.context.stroke();
  }

  #listen(onpick) {
    const pick = (event) => {
      if (!this.box) return;
      const place = this.#canvas.getBoundingClientRect();
      const { left, right, top, bottom } = this.box;
      const across = Math.min(Math.max((event.clientX - place.left - left) / (right - left), 0), 1);
      const up = Math.min(Math.max((bottom - (event.clientY - place.top)) / (bottom - top), 0), 1);
      const { x, y } = this.ends;
      onpick(x[0] + across * (x[1] - x[0]), y[0] + up * (y[1] - y[0]), this);
    };
    let down = false;
    this.#canvas.addEventListener("pointerdown", (event) => {
      down = true;
      this.#canvas.setPointerCapture(event.pointerId);
      pick(event);
    });
    this.#canvas.addEventListener("pointermove", (event) => down && pick(event));
    this.#canvas.addEventListener("pointerup", () => (down = false));
    this.#canvas.addEventListener("pointercancel", () => (down = false));
  }
}
