// Colours that people with any colour vision tell apart: Okabe and Ito's for classes, cividis for amounts.

const CLASSES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a400", "#7a7a7a"];
const CIVIDIS = [
  [0, 34, 78], [18, 53, 112], [59, 73, 107], [87, 93, 109], [112, 113, 115],
  [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56],
];

/** The colour of a class. */
export function classColour(index) {
  return CLASSES[index % CLASSES.length];
}

/** Red, green and blue of an amount from 0 to 1. */
export function amountRgb(share) {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return CIVIDIS[low].map((from, channel) => Math.round(from + (at - low) * (CIVIDIS[low + 1][channel] - from)));
}

/** The same for canvases. */
export function amountColour(share) {
  return `rgb(${amountRgb(share).join(" ")})`;
}

/** A colour of the page's style, which is another in the dark. */
export function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
