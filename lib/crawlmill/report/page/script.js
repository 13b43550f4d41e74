
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  for (const part of all("[data-scripted]")) part.hidden = false;

  // Columns of numbers are sorted by number, others by text; cells without either come last.
  const valueOf = (row, column, numeric) => {
    const cell = row.cells[column], data = cell.querySelector("data");
    const text = cell.textContent.trim().toLowerCase();
    if (!numeric) return text === "–" ? null : text;
    const number = data ? Number(data.value) : parseFloat(text);
    return Number.isNaN(number) ? null : number;
  };
  const sort = (table, column, way) => {
    const body = table.tBodies[0], rows = [...body.rows];
    const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
    const sign = way === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [valueOf(row, column, numeric), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return a < b ? -sign : a > b ? sign : 0;
    });
    body.append(...keyed.map(([, row]) => row));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", way);
  };
  for (const table of all("table[data-sorts]")) {
    for (const head of all("th", table.tHead)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const first = head.classList.contains("number") ? "descending" : "ascending";
        const now = head.getAttribute("aria-sort");
        const way = now === null ? first : now === "ascending" ? "descending" : "ascending";
        sort(table, head.cellIndex, way);
      });
    }
  }

  const log = document.querySelector("#top .controls input");
  if (log) {
    log.addEventListener("change", () => {
      const bars = all("#top tr").filter((row) => row.querySelector("[data-bar]"));
      const numbers = bars.map((row) => Math.max(Number(row.querySelector("data").value), 0));
      const scale = log.checked ? (number) => Math.log1p(number) : (number) => number;
      const most = scale(Math.max(...numbers)) || 1;
      bars.forEach((row, index) => {
        row.querySelector("[data-bar]").setAttribute("width", `${(100 * scale(numbers[index])) / most}%`);
      });
    });
  }

  const search = document.querySelector("#ledger input");
  if (search) {
    const rows = all("#ledger tbody tr"), status = document.querySelector("#ledger [role=status]");
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.innerText.toLowerCase()));
    const show = () => {
      const wanted = search.value.trim().toLowerCase();
      let left = 0;
      rows.forEach((row, index) => {
        row.hidden = !texts[index].some((text) => text.includes(wanted));
        left += !row.hidden;
      });
      status.textContent = `${left.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    };
    search.addEventListener("input", show);
    show();
  }
})();
