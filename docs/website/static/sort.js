// A table with a column "verdict", and one marked as sortable, can be sorted by any of its columns; without a script it is the plain table.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, heads, column));
    head.append(button);
  });
}

function sort(table, heads, column) {
  const rising = heads[column].getAttribute("aria-sort") !== "ascending";
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...table.tBodies[0].rows].sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }));
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", rising ? "ascending" : "descending");
  table.tBodies[0].append(...(rising ? rows : rows.reverse()));
}

document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("article table")].filter((table) => table.tHead);
  const marked = (table) => /\bverdict\b/.test(table.tHead.textContent) || table.closest(".sortable");
  tables.filter(marked).forEach(sortable);
});
