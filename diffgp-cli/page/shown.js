// What pictures show of an answer: of a real target its value and how unsure it is, of classes the probability of one.

/** The names among which `state.output` chooses: targets, or classes. */
export function namesOf(facts) {
  return facts.classes ?? facts.targets.map((target) => target.name);
}

/** What is drawn upwards. */
export function axisOf(facts, output) {
  if (facts.classes) return `probability of ${facts.classes[output]}`;
  const { name, unit } = facts.targets[output];
  return unit ? `${name} [${unit}]` : name;
}

/** The value, and a number that grows with the doubt: the deviation, or one minus the largest probability. */
export function shownOf(facts, answer, output) {
  if (facts.classes) {
    return { value: answer.probabilities[output], doubt: 1 - Math.max(...answer.probabilities) };
  }
  const { mean, deviation, intervals } = answer.outputs[output];
  return { value: mean, doubt: deviation, intervals };
}

/** How large a difference is worth showing. */
export function spreadOf(facts, output) {
  return facts.classes ? 0.3 : facts.targets[output].deviation;
}

/** Where a slider of an input goes: a little beyond what training has seen. */
export function reachOf({ low, high, deviation }) {
  const room = high > low ? 0.15 * (high - low) : Math.max(deviation, 0.1 * Math.abs(low), 1e-6);
  return [low - room, high + room];
}

/** An input's name with its unit. */
export function inputLabel({ name, unit }) {
  return unit ? `${name} [${unit}]` : name;
}
