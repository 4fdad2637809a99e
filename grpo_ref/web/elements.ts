/** Elements of a page: existing ones and new ones. */

/** Return the page's element with this id. */
export function place<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Return the address of the folder of the site, or "" if the page is not a part of it. */
export function site(): string {
  return document.documentElement.dataset.site ?? "";
}

/** Return a new link. */
export function anchor(text: string, address: string): HTMLAnchorElement {
  const made = document.createElement("a");
  [made.textContent, made.href] = [text, address];
  return made;
}

/** Return a new element with a text and a class. In prose, text in backticks becomes code. */
export function element(tag: string, text: string, kind = ""): HTMLElement {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (tag === "pre") {
    made.tabIndex = 0; // a wide one can be scrolled by keys
    made.textContent = text;
    return made;
  }
  text.split("`").forEach((part, number) => {
    const code = document.createElement("code");
    code.textContent = part;
    made.append(number % 2 === 1 ? code : part);
  });
  return made;
}
