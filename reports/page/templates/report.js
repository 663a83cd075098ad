(() => {
  "use strict";
  const drawn = [...document.querySelectorAll("svg [data-strategy]")];
  const rows = [...document.querySelectorAll("tr[data-strategy]")];
  const hidden = new Set();
  let lit = null;

  const light = (strategy) => {
    if (strategy === lit) return;
    lit = strategy;
    for (const part of drawn) part.classList.toggle("faded", lit !== null && part.dataset.strategy !== lit);
    for (const row of rows) row.classList.toggle("lit", row.dataset.strategy === lit);
  };
  const toggle = (strategy) => {
    if (!hidden.delete(strategy)) hidden.add(strategy);
    for (const part of drawn) {
      if (part.dataset.strategy !== strategy) continue;
      part.classList.toggle("name" in part.dataset ? "struck" : "off", hidden.has(strategy));
    }
    for (const chip of document.querySelectorAll("button[data-strategy]")) {
      if (chip.dataset.strategy === strategy) chip.setAttribute("aria-pressed", String(!hidden.has(strategy)));
    }
  };
  const under = (event) => event.target.closest?.("[data-strategy]")?.dataset.strategy ?? null;

  document.addEventListener("mouseover", (event) => light(under(event)));
  document.addEventListener("focusin", (event) => light(under(event)));
  document.addEventListener("click", (event) => {
    const name = event.target.closest("svg [data-name], button[data-strategy]");
    if (name) toggle(name.dataset.strategy);
    const link = event.target.closest('a[href^="#"]');
    if (link) open(link.hash);
  });

  const open = (hash) => {
    const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  open(location.hash);
  for (const chips of document.querySelectorAll(".chips")) chips.hidden = false;

  const value = (row, place) => {
    const cell = row.cells[place];
    return cell && "value" in cell.dataset ? Number(cell.dataset.value) : null;
  };
  const compare = (place, sign) => (a, b) => {
    const [x, y] = [value(a, place), value(b, place)];
    if (x === null && y === null) return sign * a.cells[place].textContent.localeCompare(b.cells[place].textContent);
    if (x === null || y === null) return x === null ? 1 : -1;
    return sign * (x - y);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head) => {
      const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare(head.cellIndex, order === "ascending" ? 1 : -1)));
    };
    for (const head of heads) {
      head.tabIndex = 0;
      head.title = "Sort by this column";
      head.addEventListener("click", () => sort(head));
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort(head);
      });
    }
  }
})();
