for (const table of document.querySelectorAll("table.sortable")) {
  const bodies = [...table.tBodies];
  const heads = [...table.tHead.rows[0].cells];
  const value = (body, at) => {
    const cell = body.rows[0].cells[at], own = cell.dataset.sort;
    return own === undefined ? cell.textContent.trim() : own === "" ? null : Number(own);
  };
  if (bodies.length < 2) continue;
  table.classList.add("sorts");
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort";
    button.append(...head.firstChild.childNodes);
    head.firstChild.append(button);
    head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = bodies.map((body) => [value(body, at), body]);
      keyed.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const bothNumbers = typeof a === "number" && typeof b === "number";
        const order = bothNumbers ? a - b : String(a).localeCompare(String(b));
        return down ? -order : order;
      });
      table.append(...keyed.map(([, body]) => body));
    });
  });
  if (bodies.length < 10) continue;
  const box = document.createElement("p"), label = document.createElement("label");
  const input = document.createElement("input"), said = document.createElement("span");
  box.className = "filter";
  input.type = "search";
  said.setAttribute("role", "status");
  label.append("Filter", input);
  box.append(label, said);
  table.parentElement.before(box);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let kept = 0;
    for (const body of bodies) {
      const text = body.textContent.toLowerCase();
      body.hidden = !words.every((word) => text.includes(word));
      kept += !body.hidden;
    }
    said.textContent = words.length ? `${kept} of ${bodies.length} rows` : "";
  });
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details.paper:not([open])")];
  closed.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
