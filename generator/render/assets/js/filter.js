// A list of entries that can be filtered and sorted; what is chosen stands in the address.
(function (findings) {
  "use strict";

  const { element } = findings;
  const FACETS = ["record", "status", "stream", "scheme"];
  const ORDERS = { id: "Id", status: "Status", record: "Record", title: "Title" };

  const facet = (entry, name) => (entry.dataset[name] ?? "").split("|").filter(Boolean);
  const titled = (name) => name[0].toUpperCase() + name.slice(1);
  const byId = (a, b) => a.id.localeCompare(b.id, "en", { numeric: true });

  function chooser(name, label, options, change) {
    const choices = options.map(([value, text]) => element("option", { value }, text));
    return element("label", {}, `${label} `, element("select", { name, onchange: change }, choices));
  }

  function fields(entries, change) {
    const made = FACETS.map((name) => {
      const values = [...new Set(entries.flatMap((entry) => facet(entry, name)))].sort();
      return values.length ? chooser(name, titled(name), [["", "any"], ...values.map((each) => [each, each])], change) : null;
    });
    const text = element("input", { type: "search", name: "text", oninput: change, autocomplete: "off" });
    const order = chooser("sort", "Sort by", Object.entries(ORDERS), change);
    return [element("label", {}, "Text ", text), ...made, order];
  }

  function matches(entry, chosen) {
    const text = entry.textContent.toLowerCase();
    const wanted = (chosen.get("text") ?? "").toLowerCase().split(/\s+/);
    return wanted.every((word) => text.includes(word))
      && FACETS.every((name) => !chosen.get(name) || facet(entry, name).includes(chosen.get(name)));
  }

  function compared(key) {
    const of = (entry) => (key === "title" ? entry.querySelector(".entry-title")?.textContent.trim() : entry.dataset[key]) ?? "";
    return (a, b) => (key === "id" ? 0 : of(a).localeCompare(of(b), "en")) || byId(a, b);
  }

  function restore(form) {
    const given = new URLSearchParams(location.search);
    for (const field of form.elements) if (given.has(field.name)) field.value = given.get(field.name);
    for (const field of form.elements) if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
  }

  function written(form) {
    const chosen = new URLSearchParams();
    for (const field of form.elements) if (field.name && field.value && !(field.name === "sort" && field.value === "id")) chosen.set(field.name, field.value);
    return chosen;
  }

  function lay() {
    const list = document.querySelector(".listing[data-filtered]");
    if (!list) return;
    const entries = [...list.querySelectorAll(":scope > .entry")];
    const count = element("p", { role: "status", class: "filter-count", "data-live": "" });
    const form = element("form", { class: "filter", role: "search", "aria-label": "Filter the list", "data-live": "", onsubmit: (event) => event.preventDefault() });
    const apply = () => {
      const chosen = written(form);
      const shown = entries.filter((entry) => (entry.hidden = !matches(entry, chosen)) === false);
      list.append(...[...entries].sort(compared(chosen.get("sort") ?? "id")));
      count.textContent = shown.length === entries.length ? `All ${entries.length} are shown.` : `${shown.length} of ${entries.length} are shown.`;
      try {
        history.replaceState(history.state, "", `${location.pathname}${String(chosen) && `?${chosen}`}${location.hash}`);
      } catch {
        // Some browsers keep the address of a page that is opened from a file as it is.
      }
    };
    const print = element("button", { type: "button", onclick: () => window.print() }, "Print");
    form.append(...fields(entries, apply).filter(Boolean), print);
    list.before(form, count);
    restore(form);
    apply();
  }

  findings.filter = lay;
})((globalThis.findings ??= {}));
