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

  function copied(text, shown = text) {
    const code = element("code", {}, shown);
    const button = element("button", { type: "button", onclick: () => findings.copy(text, button, code) }, "Copy");
    return [code, " ", button];
  }

  const row = (label, ...content) => [element("dt", {}, label), element("dd", {}, ...content)];

  function place(path, pointer, line) {
    return element("a", { href: page(path, line) }, `${path}:${line}`);
  }

  /** What the payload says around a field: its unit, its interval, how it was made. */
  function around(payload, pointer) {
    const owner = pointer.replace(/\/[^/]*$/, "");
    const read = (key) => (payload.has(`${owner}/${key}`) ? payload.read(`${owner}/${key}`) : "");
    const rows = [];
    if (read("unit")) rows.push(row("Unit", read("unit")));
    if (read("low") && read("high") && read("level")) {
      rows.push(row("Interval", `[${read("low")}, ${read("high")}] at level ${read("level")}, ${read("method")}`));
    }
    return rows;
  }

  function command(payload) {
    if (!payload.has("/provenance/command")) return [];
    const node = payload.at("/provenance/command");
    const parts = node.kind === "string" ? [payload.read("/provenance/command")]
      : [...node.members.keys()].map((key) => payload.read(`/provenance/command/${key}`));
    return [row("Made by", copied(parts.join(" ")))];
  }

  async function leafRows(mark, read) {
    const [path, pointer] = [mark.getAttribute("data-src"), mark.getAttribute("data-ptr")];
    const digest = mark.getAttribute("data-sha256");
    const [value, unit, ...rest] = [mark.getAttribute("value"), mark.getAttribute("data-format")];
    const payload = await read(path).catch(() => null);
    return [
      row(unit === "text" ? "Text" : "Value", element("code", {}, value)),
      ...(payload?.has(pointer) ? around(payload, pointer) : []),
      row("File", place(path, pointer, mark.getAttribute("data-line"))),
      row("Field", copied(pointer)),
      row("SHA-256", copied(digest, `${digest.slice(0, 12)}…`)),
      ...(payload ? command(payload) : rest),
    ];
  }

  function formula(tree, top = true) {
    if (typeof tree === "string") return tree;
    if (findings.isField(tree)) return words(tree[1]);
    const [name, ...operands] = tree;
    const parts = operands.map((each) => formula(each, false));
    if (!/^[-+*/]$/.test(name)) return `${name}(${parts.join(", ")})`;
    const joined = parts.join(` ${{ "-": "−", "*": "×", "/": "÷" }[name] ?? name} `);
    return top ? joined : `(${joined})`;
  }

  async function derivedRows(mark, read) {
    const tree = JSON.parse(mark.getAttribute("data-expression"));
    const places = await Promise.all(findings.fields(tree).map(async ([path, pointer]) => {
      const payload = await read(path).catch(() => null);
      const line = payload?.has(pointer) ? payload.line(payload.at(pointer)) : 1;
      const value = payload?.has(pointer) ? ` = ${payload.read(pointer)}` : "";
      return element("li", {}, element("code", {}, words(pointer)), value, element("br"), place(path, pointer, line));
    }));
    return [
      row("Formula", formula(tree)),
      row("Exactly", element("code", {}, mark.getAttribute("value"))),
      row("From", element("ul", {}, places)),
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
