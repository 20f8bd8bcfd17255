// The card of a number: what it is, where it stands, how it was made; by mouse, touch and keyboard.
(function (findings) {
  "use strict";

  const { element } = findings;
  const NUMBER = ".num[data-src], .num[data-expression]";
  const WAIT = { open: 180, close: 320, dismissed: 500 };
  let open = null;
  let timer = 0;
  let touched = false;
  let quiet = 0;

  const page = (path, line) => new URL(`${encodeURI(path.replace(/\.json$/, ".html"))}#L${line}`, findings.base);
  const words = (pointer) => pointer.replace(/^\/results\//, "").replace(/\/value$/, "").replaceAll("/", ".");
  const stem = (path) => path.replace(/^.*\//, "").replace(/\.json$/, "");

  const NAMES = [
    ([, pointer]) => words(pointer),
    ([path, pointer]) => `${stem(path)}.${words(pointer)}`,
    ([path, pointer]) => `${path}#${pointer}`,
  ];

  /** For each of some distinct fields its shortest name that no other of them has. */
  function named(fields) {
    const alone = (name, field) => fields.every((each) => each === field || name(each) !== name(field));
    return new Map(fields.map((field) => [String(field), NAMES.find((name) => alone(name, field))(field)]));
  }

  function copied(text, shown = text) {
    const code = element("code", {}, shown);
    const button = element("button", { type: "button", onclick: () => findings.copy(text, button, code) }, "Copy");
    return [code, " ", button];
  }

  const row = (label, ...content) => [element("dt", {}, label), element("dd", {}, ...content)];

  function place(path, line) {
    return element("a", { href: page(path, line) }, `${path}:${line}`);
  }

  const beside = (pointer, key) => `${pointer.replace(/\/[^/]*$/, "")}/${key}`;

  /** A text or number of a payload, empty where it has none there. */
  const given = (payload, pointer) => (payload.has(pointer) ? payload.read(pointer) : "");

  /** What the payload says around a field: its unit, its interval. */
  function around(payload, pointer) {
    const read = (key) => given(payload, beside(pointer, key));
    const rows = [];
    if (read("unit")) rows.push(row("Unit", read("unit")));
    if (read("low") && read("high") && read("level")) {
      rows.push(row("Interval", `[${read("low")}, ${read("high")}] at level ${read("level")}, ${read("method")}`));
    }
    return rows;
  }

  /** The command that made a payload, to copy; none where the payload names none. */
  function command(payload) {
    if (!payload?.has("/provenance/command")) return null;
    const node = payload.at("/provenance/command");
    const parts = node.kind === "string" ? [payload.read("/provenance/command")]
      : [...node.members.keys()].map((key) => payload.read(`/provenance/command/${key}`));
    return copied(parts.join(" "));
  }

  const digested = (digest) => copied(digest, `${digest.slice(0, 12)}…`);

  async function leafRows(mark, read) {
    const [path, pointer] = [mark.getAttribute("data-src"), mark.getAttribute("data-ptr")];
    const digest = mark.getAttribute("data-sha256");
    const [value, form] = [mark.getAttribute("value"), mark.getAttribute("data-format")];
    const payload = await read(path).catch(() => null);
    const by = command(payload);
    return [
      row(form === "text" ? "Text" : "Value", element("code", {}, value)),
      ...(payload?.has(pointer) ? around(payload, pointer) : []),
      row("File", place(path, mark.getAttribute("data-line"))),
      row("Field", copied(pointer)),
      row("SHA-256", digested(digest)),
      ...(by ? [row("Made by", by)] : []),
    ];
  }

  function formula(tree, names, top = true) {
    if (typeof tree === "string") return tree;
    if (findings.isField(tree)) return names.get(String(tree));
    const [name, ...operands] = tree;
    const parts = operands.map((each) => formula(each, names, false));
    if (!/^[-+*/]$/.test(name)) return `${name}(${parts.join(", ")})`;
    const joined = parts.join(` ${{ "-": "−", "*": "×", "/": "÷" }[name] ?? name} `);
    return top ? joined : `(${joined})`;
  }

  /** A field of an expression: its name, its value and unit, its place. */
  function taken([path, pointer], name, payload) {
    const known = payload?.has(pointer);
    const value = known ? ` = ${payload.read(pointer)} ${given(payload, beside(pointer, "unit"))}` : "";
    return element("div", {}, element("code", {}, name), value, " ", place(path, known ? payload.line(payload.at(pointer)) : 1));
  }

  /** A payload behind an expression: the fields taken from it, its digest, the command that made it. */
  async function source(path, fields, names, read) {
    const payload = await read(path).catch(() => null);
    const by = command(payload);
    return element("li", {},
      fields.map((each) => taken(each, names.get(String(each)), payload)),
      element("div", {}, "SHA-256 ", ...digested(fields[0][2])),
      by && element("div", {}, "Made by ", ...by));
  }

  async function derivedRows(mark, read) {
    const tree = JSON.parse(mark.getAttribute("data-expression"));
    const fields = [...new Map(findings.fields(tree).map((each) => [String(each), each])).values()];
    const names = named(fields);
    const paths = [...new Set(fields.map(([path]) => path))];
    const from = paths.map((path) => source(path, fields.filter((each) => each[0] === path), names, read));
    return [
      row("Formula", formula(tree, names)),
      row("Exactly", element("code", {}, mark.getAttribute("value"))),
      row("From", element("ul", {}, await Promise.all(from))),
    ];
  }

  function foot(mark, read) {
    const outcome = element("span", { role: "status", class: "card-outcome" });
    const verify = element("button", { type: "button", onclick: async () => {
      const { what, fault, unread } = await findings.verifyMark(mark, read);
      outcome.textContent = fault ? `Differs: ${fault}.` : unread ? `Not checked: ${unread}.` : "Re-computed here, and equal.";
      outcome.dataset.outcome = findings.outcome([{ what, fault, unread }]);
    } }, "Verify");
    const address = mark.id ? new URL(`#${mark.id}`, location.href).href : "";
    const link = element("button", { type: "button", onclick: () => findings.copy(address, link, outcome) }, "Copy address");
    return element("p", { class: "card-foot" }, verify, address ? link : null, outcome);
  }

  async function show(mark) {
    if (open?.mark === mark) return;
    hide();
    const read = findings.library();
    const list = element("dl");
    const label = mark.classList.contains("derived") ? "How this number was calculated" : "Where this comes from";
    const card = element("div", { class: "card", role: "group", "aria-label": label, "data-live": "", popover: "manual" }, list, foot(mark, read));
    open = { mark, card };
    (mark.closest("svg") ?? mark).after(card);
    if (card.showPopover) card.showPopover();
    list.append(...(mark.hasAttribute("data-expression") ? await derivedRows(mark, read) : await leafRows(mark, read)).flat());
    settle(mark, card);
  }

  /** Below the number, or above it where there is no room; never past an edge of the window. */
  function settle(mark, card) {
    const [at, size, edge] = [mark.getClientRects()[0] ?? mark.getBoundingClientRect(), card.getBoundingClientRect(), 8];
    const left = Math.max(edge, Math.min(at.left, document.documentElement.clientWidth - size.width - edge));
    const below = at.bottom + 6;
    const fits = below + size.height <= innerHeight - edge || at.top < size.height + edge;
    card.style.left = `${left}px`;
    card.style.top = `${Math.max(edge, fits ? below : at.top - size.height - 6)}px`;
  }

  function hide() {
    clearTimeout(timer);
    open?.card.remove();
    open = null;
  }

  function later(action, wait) {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  }

  const numberAt = (target) => (target instanceof Element ? target.closest(NUMBER) : null);
  const inCard = (target) => target instanceof Node && Boolean(open?.card.contains(target));

  function listen() {
    document.addEventListener("pointerdown", (event) => {
      touched = event.pointerType !== "mouse";
      if (open && !inCard(event.target) && numberAt(event.target) !== open.mark) hide();
    });
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "mouse") return;
      const mark = numberAt(event.target);
      if (mark && performance.now() < quiet) return;
      if (mark) later(() => show(mark), WAIT.open);
      else if (inCard(event.target)) clearTimeout(timer);
      else later(hide, WAIT.close);
    });
    document.addEventListener("click", (event) => {
      const mark = numberAt(event.target);
      if (!mark || !touched || open?.mark === mark) return;
      event.preventDefault();
      show(mark);
    });
    document.addEventListener("focusin", (event) => {
      const mark = numberAt(event.target);
      if (mark && !touched) show(mark);
      else if (open && !inCard(event.target)) hide();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !open) return;
      const link = open.mark.querySelector("a");
      const inside = inCard(document.activeElement);
      quiet = performance.now() + WAIT.dismissed;
      hide();
      if (inside) link?.focus();
      hide();
    });
    addEventListener("scroll", () => open && !inCard(document.activeElement) && settle(open.mark, open.card), { passive: true });
  }

  findings.cards = listen;
})((globalThis.findings ??= {}));
