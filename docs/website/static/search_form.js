// The search field of the dialog and of the search page. The index is loaded when a field is first used.
"use strict";
{
  const SCRIPTS = ["base-stemmer.js", "english-stemmer.js", "search.js", "search-index.js"];
  const IN_DIALOG = 8;  // results; the page shows all
  const PAUSE = 80;  // milliseconds after a key before the search begins
  const root = document.documentElement.dataset.content_root ?? "./";

  const load = (name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${root}_static/${name}`;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  let loading;
  const loaded = () => loading ??= SCRIPTS.reduce((before, name) => before.then(() => load(name)), Promise.resolve());

  const element = (tag, className, text = "") => {
    const made = document.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  };

  /** An item of the list: a link with the title, the kind and the page, and the beginning of the text. */
  function item({ address, title, above, kind, lead }) {
    const link = element("a", "", title);
    link.href = root + address;
    const where = element("span", "search-where", [kind, above].filter(Boolean).join(" · "));
    const made = element("li", "");
    made.append(link, where, element("p", "", lead));
    return made;
  }

  /** Connect a form with a list of results below it. */
  function connect(form) {
    const input = form.querySelector("input");
    const isPage = !form.closest("dialog");
    const status = element("p", "search-status");
    status.setAttribute("role", "status");
    const list = element("ol", "search-results");
    form.after(status, list);

    async function show() {
      const query = input.value.trim();
      if (!query) return list.replaceChildren(), status.textContent = "";
      if (!globalThis.siteSearch?.index) status.textContent = "Loading the index (0.4 MB) …";
      try {
        await loaded();
      } catch {
        return status.textContent = "The index of the search could not be loaded.";
      }
      if (query !== input.value.trim()) return;
      const results = siteSearch.search(input.value, isPage ? 50 : IN_DIALOG);
      list.replaceChildren(...results.map(item));
      const more = !isPage && results.length === IN_DIALOG ? ", the best first. Enter shows more." : "";
      status.textContent = results.length
        ? `${results.length} result${results.length > 1 ? "s" : ""}${more}`
        : `Nothing matches “${query}”. The names of keys, metrics and papers (2503.14476) can be searched, too.`;
    }

    let timer;
    input.addEventListener("focus", () => loaded().catch(() => {}), { once: true });
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, PAUSE);
    });
    form.addEventListener("submit", (event) => {
      if (!isPage) return;
      event.preventDefault();
      history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
      show();
    });
    // The arrows move between the field and the results.
    form.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [input, ...list.querySelectorAll("a")];
      const at = stops.indexOf(document.activeElement);
      if (!step || at < 0 || !stops[at + step]) return;
      event.preventDefault();
      stops[at + step].focus();
    });
    if (isPage) {
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      input.focus();
      show();
    }
  }

  document.querySelectorAll("form.bd-search").forEach(connect);
}
