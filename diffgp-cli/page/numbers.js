// Numbers as people read them, and with every digit.

/** The shortest text that reads back to the same single. */
export function exactText(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}

/** A number next to which a difference of `spread` matters: a thousandth of that is shown. */
export function numberText(value, spread) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.max(Math.abs(value), 1e-300);
  if (size >= 1e7 || size < 1e-4) return value.toPrecision(4).replace("e+", "e");
  const decimals = spread > 0 ? 2 - Math.floor(Math.log10(spread)) : 3;
  return value.toFixed(Math.min(Math.max(decimals, 0), 9));
}

/** A share as per cent. */
export function percentText(share) {
  const percent = 100 * share;
  return `${percent.toFixed((percent > 99.9 && percent < 100) || (percent < 0.1 && percent > 0) ? 2 : 1)} %`;
}

/** 12,345 */
export function countText(count) {
  return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Round places between two ends, about so many. */
export function ticksBetween(low, high, about) {
  const raw = (high - low) / Math.max(about, 1);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high + 1e-9 * step; index++) ticks.push(index * step);
  return ticks;
}

/** Ticks as text, with the digits that tell them apart. */
export function tickTexts(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(ticks[0]) || 1;
  const size = Math.max(...ticks.map(Math.abs));
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return ticks.map((tick) => (tick === 0 ? "0" : tick.toExponential(2).replace("e+", "e")));
  return ticks.map((tick) => tick.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

/** Where the middle `share` of the values lies. */
export function middleOf(values, share) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return [0, 1];
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
  return [at((1 - share) / 2), at((1 + share) / 2)];
}

/** A little more on both sides; something even where all values are the same. */
export function widened([low, high], by) {
  const room = high > low ? by * (high - low) : Math.max(Math.abs(low), 1) * 0.1;
  return [low - room, high + room];
}
