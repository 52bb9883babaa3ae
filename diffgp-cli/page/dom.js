// Elements. Names from files only ever become text: nothing here or elsewhere reads markup from a string.

/** An element with attributes, listeners (`onclick`) and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Control characters would vanish or turn the text around. */
export function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

/** At most so many letters. */
export function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/** A choice among named things; calls with the index that was chosen. */
export function choice(label, names, chosen, onchoose) {
  const options = names.map((name, index) => element("option", { value: index }, shortened(name, 60)));
  const select = element("select", { onchange: () => onchoose(Number(select.value)) }, ...options);
  select.value = chosen;
  return element("label", { class: "choice" }, label, " ", select);
}

/** A box to tick. */
export function tick(label, checked, onchange) {
  const box = element("input", { type: "checkbox", onchange: () => onchange(box.checked) });
  box.checked = checked;
  return element("label", { class: "choice" }, box, " ", label);
}

/** A part of the page with its heading. */
export function card(id, title, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  return element("section", { id, class: "card", "aria-labelledby": `${id}-title` }, heading, ...children);
}
