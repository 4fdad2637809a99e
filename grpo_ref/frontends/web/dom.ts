/** Elements of the page. */

export function place<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** An element with a text and a class; in prose, what stands in backticks is code. */
export function element(tag: string, text: string, kind = ""): HTMLElement {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  text.split("`").forEach((part, number) => {
    const code = document.createElement("code");
    code.textContent = part;
    made.append(number % 2 === 1 ? code : part);
  });
  return made;
}

/** A text as it stands; a wide one can be scrolled by keys. */
export function block(text: string): HTMLElement {
  const made = document.createElement("pre");
  made.tabIndex = 0;
  made.textContent = text;
  return made;
}
