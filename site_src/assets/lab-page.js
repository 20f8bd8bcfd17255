/* The lab's page: the form made of its table, results, exercises and the notebook. Every word comes from the page's own
   messages, every limit from its traced numbers; the arithmetic is lab.js. A classic script, for pages opened from a file. */
(function () {
  "use strict";
  const Lab = window.Lab;
  const SHELF = "specdec-lab-notebook";
  const NOTEBOOK = "specdec-sidechannels/lab-notebook/1";
  const ASKED = { understand: ["counterexample"], implement: ["expected", "observed"], investigate: ["transfer"] };
  const SENTENCE = { letters: 40, words: 5 };
  const NEAR = 0.001; // the page shows three decimals
  const EXAMPLE =
    "vllm:spec_decode_num_drafts_total 1000\n" +
    [620, 410, 260].map((count, at) => `vllm:spec_decode_num_accepted_tokens_per_pos_total{position="${at}"} ${count}`).join("\n");
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const { edition, decimal } = find("#lab-messages").dataset;
  const messages = Object.fromEntries(all("[data-message]").map((each) => [each.dataset.message, each.textContent]));

  const say = (name, values = {}) => messages[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const shown = (value, places = 3) => Number(value.toFixed(places)).toString().replace("-", "−");
  const traced = (within) => Number(find("data.num", within).getAttribute("value"));
  const typed = (input) => (input.value.trim() === "" ? NaN : Number(input.value.trim().replace(",", ".").replace("−", "-")));

  /** An element with attributes and children; texts are texts, never markup. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function button(name, act, first = false) {
    const made = element("button", { type: "button", class: first ? "lab-button first" : "lab-button" }, say(name));
    made.addEventListener("click", act);
    return made;
  }

  function later(act) {
    let waiting = 0;
    return () => {
      clearTimeout(waiting);
      waiting = setTimeout(act, 150);
    };
  }

  function download(name, type, content) {
    const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // Configure

  const inputs = {};
  const named = (name) => find("th", inputs[name].closest("tr")).textContent;

  function fields() {
    find(".lab-fields thead th").after(element("th", {}, say("value")));
    for (const row of all("[data-field]")) {
      const name = row.dataset.field;
      const [head] = row.cells;
      head.id = `lab-name-${name}`;
      row.cells[1].className = "lab-first";
      row.cells[2].id = `lab-unit-${name}`;
      const input = element("input", { id: `lab-${name}`, inputmode: "decimal", "aria-labelledby": `${head.id} lab-unit-${name}` });
      input.value = String(traced(row.cells[1]));
      head.after(element("td", {}, input));
      inputs[name] = input;
    }
    const rates = element("input", { id: "lab-rates" });
    const line = element("p", { class: "lab-rates" }, element("label", { for: "lab-rates" }, say("rates")), rates);
    find(".lab-fields").after(line);
    inputs.rates = rates;
    for (const set of all("[data-choice]")) for (const each of all("[data-value]", set)) choice(set.dataset.choice, each);
  }

  function choice(name, holder) {
    const input = element("input", { type: "radio", name: `lab-${name}`, value: holder.dataset.value });
    holder.append(element("label", {}, input, ...holder.childNodes));
  }

  const chosen = (name) => find(`input[name=lab-${name}]:checked`).value;
  function choose(name, value) {
    find(`input[name=lab-${name}][value=${value}]`).checked = true;
  }

  /** Rates in a text, with decimal points. Where the edition writes commas, one between digits is a decimal comma,
      unless the rate has a point, or the text is nothing but whole numbers between commas. */
  function listed(text) {
    if (decimal !== ",") return text.split(/[\s,;]+/).filter(Boolean);
    const parts = text.split(/[\s;]+/).map((part) => part.replace(/^,+|,+$/g, "")).filter(Boolean);
    const commas = (part) => part.includes(".") || (parts.length === 1 && part.split(",").length > 2);
    return parts.flatMap((part) => (commas(part) ? part.split(",") : part.replaceAll(",", ".")));
  }

  /** What stands in the form, as it would be given to the arithmetic. */
  function given() {
    const found = { mode: chosen("mode"), meaning: chosen("meaning") };
    if (found.mode === "spread") found.meaning = "conditional";
    for (const name of Object.keys(Lab.FIELDS)) found[name] = typed(inputs[name]);
    if (found.mode === "positions") found.rates = listed(inputs.rates.value).map(Number);
    return found;
  }

  /** Put settings into the form. */
  function put(settings) {
    choose("mode", settings.mode ?? "constant");
    choose("meaning", settings.meaning ?? "conditional");
    for (const name of Object.keys(Lab.FIELDS)) if (name in settings) inputs[name].value = Lab.number(settings[name]);
    if (settings.rates?.length) inputs.rates.value = settings.rates.map(Lab.number).join(", ");
  }

  function fit() {
    const mode = chosen("mode");
    const only = { acceptance: "constant", kept: "spread", refused: "spread", prompt_rounds: "spread" };
    for (const [name, where] of Object.entries(only)) inputs[name].closest("tr").hidden = mode !== where;
    find(".lab-rates").hidden = mode !== "positions";
    find("[data-choice=meaning]").hidden = mode === "spread";
    const proposed = find("input[name=lab-meaning][value=proposed]");
    proposed.disabled = mode === "positions";
    if (proposed.disabled && proposed.checked) choose("meaning", "conditional");
  }

  // The address

  const ADDRESS = "#lab?";

  function remember(settings) {
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(settings)) {
      const plain = name === "mode" ? "constant" : name === "meaning" ? "conditional" : Lab.FIELDS[name]?.default;
      if (name === "rates" ? value.length : value !== plain) kept.set(name, name === "rates" ? value.map(Lab.number).join(" ") : value);
    }
    const address = kept.size ? ADDRESS + kept : "#lab";
    if (location.hash !== address && (kept.size || location.hash.startsWith("#lab?"))) history.replaceState(null, "", address);
    const other = find("[data-edition-link]");
    if (other) other.hash = kept.size ? address : "";
  }

  /** The settings that the address holds; what cannot be read there is left to the defaults. */
  function recalled() {
    const found = {};
    if (!location.hash.startsWith(ADDRESS)) return null;
    for (const [name, value] of new URLSearchParams(location.hash.slice(ADDRESS.length))) {
      if (name === "rates") found.rates = value.split(" ").map(Number).filter(Number.isFinite);
      else if (name === "mode" && Lab.MODES.includes(value)) found.mode = value;
      else if (name === "meaning" && Lab.MEANINGS.includes(value)) found.meaning = value;
      else if (Object.hasOwn(Lab.FIELDS, name) && Number.isFinite(Number(value))) found[name] = Number(value);
    }
    return found;
  }

  // Inspect

  let current = null;

  function compute() {
    fit();
    for (const input of Object.values(inputs)) input.removeAttribute("aria-invalid");
    try {
      current = Lab.report(given());
    } catch (error) {
      if (!(error instanceof Lab.Unusable)) throw error;
      current = null;
      refuse(error);
      return;
    }
    remember(current.settings);
    draw(current);
  }

  function problem(error) {
    const field = inputs[error.field] && error.field !== "rates" ? named(error.field) : error.field;
    const { least, most } = error.code === "rates" ? Lab.FIELDS.acceptance : error; // its own limits count the rates
    return say(`error_${error.code}`, { field, from: shown(least), to: shown(most), count: shown(error.most) });
  }

  function refuse(error) {
    inputs[error.field]?.setAttribute("aria-invalid", "true");
    find("#lab-verdict").className = "lab-verdict error";
    find("#lab-verdict").textContent = problem(error);
    find("#lab-found").replaceChildren();
  }

  function draw(found) {
    const verdict = find("#lab-verdict");
    verdict.className = `lab-verdict ${found.verdict}`;
    verdict.textContent = say(found.verdict, { speedup: shown(found.speedup) });
    find("#lab-found").replaceChildren(facts(found), drawings(found), curveTable(found), mapTable(found), exports(found));
  }

  function fact(name, value, ...below) {
    const small = below.filter(Boolean).map((text) => element("small", {}, text));
    return element("div", {}, element("dt", {}, say(name)), element("dd", {}, value, ...small));
  }

  const between = (of) => (of ? say("interval", { low: shown(of.low), high: shown(of.high) }) : say("no_interval"));

  function facts(found) {
    const { best, break_even: even, acceptance } = found;
    const unit = say("tokens_a_check");
    return element(
      "dl",
      { class: "lab-facts" },
      fact("expected", shown(found.expected), unit),
      fact("observed", shown(found.observed), unit, between(found.interval), found.few ? say("few", { groups: found.groups }) : ""),
      fact("round_cost", `${shown(found.round_cost)} ${say("ms")}`),
      fact("best", best.speedup > 1 ? say("best_is", { length: best.draft_length, speedup: shown(best.speedup) }) : say("best_none")),
      fact("break_even", even === null ? say("never") : shown(even)),
      fact("equivalent", acceptance.equivalent === null ? "–" : shown(acceptance.equivalent)),
    );
  }

  // Drawings

  const SVG = "http://www.w3.org/2000/svg";
  function shape(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const WIDE = 360;
  const HIGH = 250;
  const EDGE = { left: 48, right: 8, top: 8, bottom: 40 };
  const across = (share) => EDGE.left + share * (WIDE - EDGE.left - EDGE.right);
  const up = (share) => HIGH - EDGE.bottom - share * (HIGH - EDGE.top - EDGE.bottom);

  function frame(label, axisX, axisY, ...inner) {
    return shape(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label },
      ...inner,
      shape("path", { class: "axis", fill: "none", d: `M${across(0)} ${up(1)}V${up(0)}H${across(1)}` }),
      shape("text", { x: across(0.5), y: HIGH - 4, "text-anchor": "middle" }, axisX),
      shape("text", { x: -up(0.5), y: 13, transform: "rotate(-90)", "text-anchor": "middle" }, axisY),
    );
  }

  const tickX = (share, text) => shape("text", { x: across(share), y: up(0) + 16, "text-anchor": "middle" }, text);
  const tickY = (share, text) => shape("text", { x: across(0) - 5, y: up(share) + 4, "text-anchor": "end" }, text);

  function curveDrawing(found) {
    const rows = found.curve;
    const top = 1.1 * Math.max(1, ...rows.map((row) => row.speedup));
    const slot = 1 / rows.length;
    const bars = rows.map((row, at) =>
      shape("rect", {
        class: `${row.speedup > 1 ? "fast" : "slow"}${row.draft_length === found.settings.draft_length ? " here" : ""}`,
        x: across((at + 0.15) * slot),
        y: up(row.speedup / top),
        width: across(0.7 * slot) - across(0),
        height: up(0) - up(row.speedup / top),
      }),
    );
    const one = shape("path", { class: "one", d: `M${across(0)} ${up(1 / top)}H${across(1)}` });
    const ticks = rows.filter((_, at) => at % (rows.length > 9 ? 2 : 1) === 0);
    const labels = ticks.map((row) => tickX((row.draft_length + 0.5) * slot, row.draft_length));
    const sides = [0, 1, ...(top > 2.2 ? [Math.floor(top)] : [])].map((value) => tickY(value / top, value));
    return frame(`${say("curve")}. ${find("#lab-verdict").textContent}`, say("axis_length"), say("axis_speedup"), ...bars, one, ...labels, ...sides);
  }

  /** Where the setting lies among the map's costs, whether the map can show it, and the words beside the map. */
  function dotOf(found) {
    const { draft, plain } = found.settings;
    const cost = draft / plain;
    const end = found.map.costs.at(-1);
    const [name, values] =
      found.acceptance.equivalent === null ? ["dot_none", {}] : cost > end ? ["dot_off", { ratio: shown(cost), end: shown(end) }] : ["dot", {}];
    return { cost, shown: name === "dot", note: `${say("map_note")} ${say(name, values)}` };
  }

  function mapDrawing(found) {
    const { costs, acceptances, speedup, break_even: even } = found.map;
    const width = across(1 / costs.length) - across(0) + 0.5;
    const height = up(0) - up(1 / acceptances.length) + 0.5;
    const middle = (at, count) => (at + 0.5) / count;
    const cells = acceptances.flatMap((_, row) =>
      costs.map((_, column) => {
        const gain = speedup[row][column];
        const depth = Math.min(0.85, 0.12 + 0.45 * Math.abs(Math.log2(gain)));
        const [x, y] = [across(column / costs.length), up((row + 1) / acceptances.length)];
        return shape("rect", { class: gain > 1 ? "fast" : "slow", x, y, width, height, "fill-opacity": depth });
      }),
    );
    const high = (acceptance) => up(middle(acceptance * (acceptances.length - 1), acceptances.length));
    const far = (cost) => across(middle(cost * (costs.length - 1), costs.length));
    const points = even.flatMap((acceptance, at) => (acceptance === null ? [] : [`${far(costs[at])},${high(acceptance)}`]));
    const marks = [shape("polyline", { points: points.join(" ") })];
    const dot = dotOf(found);
    if (dot.shown) marks.push(shape("circle", { cx: far(dot.cost), cy: high(found.acceptance.equivalent), r: 5 }));
    if (even[0] !== null && even[0] < 0.85) marks.push(shape("text", { class: "region", x: across(0.03), y: up(0.93) }, say("region_faster")));
    marks.push(shape("text", { class: "region", x: across(0.97), y: up(0.03), "text-anchor": "end" }, say("region_slower")));
    const ticks = [0, 0.5, 1].flatMap((share) => [
      shape("text", { x: far(share), y: up(0) + 16, "text-anchor": "middle" }, String(share)),
      shape("text", { x: across(0) - 5, y: high(share) + 4, "text-anchor": "end" }, String(share)),
    ]);
    return frame(`${say("map")}. ${dot.note}`, say("axis_cost"), say("axis_acceptance"), ...cells, ...marks, ...ticks);
  }

  function drawings(found) {
    const figure = (name, drawing, note) =>
      element("figure", {}, element("figcaption", {}, say(name)), drawing, ...(note ? [element("p", {}, note)] : []));
    return element(
      "div",
      { class: "lab-drawings" },
      figure("curve", curveDrawing(found)),
      figure("map", mapDrawing(found), dotOf(found).note),
    );
  }

  function curveTable(found) {
    const limit = traced(find("#lab-shown"));
    const rows = found.curve.slice(0, limit);
    const heads = ["axis_length", "tokens_a_check", "ms", "ratio"].map((name) => element("th", {}, say(name)));
    const lines = rows.map((row) =>
      element("tr", {}, ...[row.draft_length, row.expected, row.round_cost, row.speedup].map((value) => element("td", {}, shown(value)))),
    );
    const cut = rows.length < found.curve.length;
    const note = cut ? say("shortened", { shown: rows.length, rows: found.curve.length }) : say("whole");
    return folded("table", note, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines));
  }

  /** The places to keep of a list whose ends both stay, evenly apart and no more than a limit. */
  function spaced(list, limit) {
    const last = list.length - 1;
    let step = 1;
    while (last % step || last / step >= limit) step++;
    return list.flatMap((_, at) => (at % step ? [] : [at]));
  }

  function mapTable(found) {
    const { costs, acceptances, speedup, break_even: even } = found.map;
    const limit = traced(find("#lab-shown"));
    const [rows, columns] = [spaced(acceptances, limit).reverse(), spaced(costs, limit)];
    const heads = columns.map((at) => element("th", { scope: "col" }, shown(costs[at])));
    const over = [
      element("tr", {}, element("th", { rowspan: "2" }, say("axis_acceptance")), element("th", { colspan: String(columns.length), scope: "colgroup" }, say("axis_cost"))),
      element("tr", {}, ...heads),
    ];
    const line = (head, texts) => element("tr", {}, element("th", { scope: "row" }, head), ...texts.map((text) => element("td", {}, text)));
    const lines = rows.map((row) => line(shown(acceptances[row]), columns.map((at) => shown(speedup[row][at]))));
    lines.push(line(say("break_even"), columns.map((at) => (even[at] === null ? say("never") : shown(even[at])))));
    const note = say("map_shortened", { shown: rows.length, rows: acceptances.length, across: columns.length, columns: costs.length });
    return folded("map_table", note, element("thead", {}, ...over), element("tbody", {}, ...lines));
  }

  function folded(name, note, ...parts) {
    const held = element("div", { class: "lab-wide", tabindex: "0", role: "region", "aria-label": say(name) }, element("table", { class: "lab-table" }, ...parts));
    return element("details", { "data-table": name }, element("summary", {}, say(name)), held, element("p", {}, note));
  }

  function exports(found) {
    const told = element("span", { role: "status", class: "lab-status" });
    const copy = button("link", async () => {
      remember(found.settings);
      try {
        await navigator.clipboard.writeText(location.href);
        told.textContent = say("copied");
      } catch {
        told.textContent = location.href;
      }
    });
    const save = button("export", () => download("lab-report.json", "application/json", Lab.text(found)), true);
    return element("p", {}, save, copy, told);
  }

  // Add your input

  function addInput() {
    const area = element("textarea", { id: "lab-text", rows: "4", spellcheck: "false" });
    const told = element("p", { role: "status", class: "lab-status", "data-live": "" });
    const read = () => {
      try {
        const plain = /^[\s\d.,;[\]]+$/.test(area.value);
        const found = Lab.pasted(plain ? listed(area.value.replace(/[[\]]/g, " ")).join(" ") : area.value);
        const list = found.meaning === null;
        const meaning = found.meaning ?? (chosen("meaning") === "proposed" ? "conditional" : chosen("meaning"));
        take({ mode: "positions", meaning, rates: found.rates, draft_length: found.rates.length });
        told.textContent = `${say("loaded", { source: found.source })} ${list ? say("list_meaning") : ""}`;
      } catch (error) {
        if (!(error instanceof Lab.Unusable)) throw error;
        told.textContent = problem(error);
      }
    };
    const example = button("example", () => {
      area.value = EXAMPLE;
      read();
    });
    find("#lab-paste").append(element("label", { for: "lab-text" }, say("paste")), area, button("read", read), example, told);
    const heads = find(".lab-presets thead tr").cells;
    const names = [...heads].map((each) => each.textContent);
    heads[0].after(element("th", {}, element("span", { class: "lab-quiet" }, say("load"))));
    find(".lab-presets").classList.add("stacked");
    for (const row of all("[data-preset]")) {
      const load = button("load", () => {
        const kept = all("data.num", row).slice(1, -1).map((mark) => Number(mark.getAttribute("value")));
        const joint = kept.map((_, at) => kept.slice(at).reduce((sum, share) => sum + share, 0)).slice(1);
        take({ mode: "positions", meaning: "joint", rates: joint, draft_length: joint.length });
        told.textContent = say("loaded", { source: row.cells[0].textContent });
      });
      load.setAttribute("aria-label", `${say("load")}: ${row.cells[0].textContent}`);
      names.forEach((name, at) => at && row.cells[at].prepend(element("span", { class: "lab-head" }, name)));
      row.cells[0].after(element("td", {}, load));
    }
  }

  function take(settings) {
    put({ ...given_or_default(), ...settings });
    compute();
  }

  function given_or_default() {
    const found = given();
    for (const [name, field] of Object.entries(Lab.FIELDS)) if (!Number.isFinite(found[name])) found[name] = field.default;
    return found;
  }

  // Predict, then look

  function settingOf(section, from) {
    const found = { mode: section.dataset.mode ?? "constant", meaning: section.dataset.meaning ?? "conditional" };
    for (const each of all("[data-set]", section)) found[each.dataset.set] = traced(each);
    if (from === "other") for (const each of all("[data-other]", section)) found[each.dataset.other] = traced(each);
    return found;
  }

  function exercise(section) {
    const asks = section.dataset.asks;
    const name = section.dataset.exercise;
    const unit = say(asks === "speedup" ? "ratio" : "tokens_a_check");
    const input = element("input", { id: `lab-predict-${name}`, inputmode: "decimal" });
    const out = element("div", { role: "status", "data-live": "" });
    const open = button("unlock", () => {
      const predicted = typed(input);
      if (!Number.isFinite(predicted)) {
        out.replaceChildren(element("p", {}, say("needed")));
        input.focus();
        return;
      }
      out.replaceChildren(...unlocked(section, name, asks, unit, predicted));
    }, true);
    const label = element("label", { for: input.id }, `${say("predict")}, ${unit}`);
    section.append(element("div", { class: "lab-ask" }, label, input, open), out);
  }

  function unlocked(section, name, asks, unit, predicted) {
    const setting = settingOf(section);
    const found = Lab.report(setting);
    const result = found[asks];
    const lines = [
      fact("predicted", shown(predicted), unit),
      asks === "speedup" ? fact("axis_speedup", shown(result), unit) : fact("expected", shown(result), unit),
      asks === "speedup" ? "" : fact("observed", shown(found.observed), unit, between(found.interval)),
      fact("off", shown(predicted - result), unit),
    ];
    const inputs_ = [found.settings];
    if (section.dataset.meaning) lines.push(fact("as_token", shown(Lab.report({ ...setting, meaning: "conditional" }).expected), unit));
    if (section.dataset.mode) lines.push(fact("constant_instead", shown(Lab.report({ ...setting, mode: "constant" }).expected), unit));
    if (section.dataset.against) {
      const other = Lab.report(settingOf(section, "other"));
      inputs_.push(other.settings);
      lines.push(fact("other", shown(other.expected), unit, between(other.interval)));
      lines.push(fact("axis_speedup", `${shown(found.speedup)} : ${shown(other.speedup)}`, say(found.speedup >= other.speedup ? "wins_first" : "wins_other")));
    }
    const observed = asks === "speedup" ? result : found.observed;
    const entry = { exercise: name, input: inputs_, predicted, expected: result, observed };
    return [
      element("dl", { class: "lab-facts" }, ...lines.filter(Boolean)),
      element("p", {}, button("take", () => note(entry), true), button("open", () => {
        put({ ...setting });
        compute();
        find("#lab-result").scrollIntoView();
      })),
    ];
  }

  // Notebook

  const UNMARKED = { stage: "understand", exercise: "", predicted: null };
  let pages = [];
  let pending = null;
  const form = {};

  function load() {
    try {
      const kept = JSON.parse(localStorage.getItem(SHELF) ?? "{}");
      if (kept.schema === NOTEBOOK && Array.isArray(kept.entries)) pages = kept.entries;
    } catch {
      pages = [];
    }
  }

  function keep() {
    try {
      localStorage.setItem(SHELF, JSON.stringify({ schema: NOTEBOOK, entries: pages }));
    } catch {
      return; // a browser that keeps nothing still shows and exports
    }
  }

  function note(entry) {
    pending = entry;
    form.stage.value = entry.input.length > 1 ? "investigate" : "understand";
    for (const name of ["predicted", "expected", "observed"]) form[name].value = shown(entry[name], 6);
    form.input.value = Lab.text(entry.input.length > 1 ? entry.input : entry.input[0]);
    form.told.textContent = "";
    form.stage.focus();
    form.stage.scrollIntoView({ block: "center" });
  }

  function labelled(name, control, key = name) {
    control.id = `lab-note-${name}`;
    form[name] = control;
    return element("div", {}, element("label", { for: control.id }, say(key)), control);
  }

  /** Whether a text is as long as a sentence, in characters and in different words. */
  function explains(text) {
    const words = new Set(text.toLowerCase().match(/\p{L}{2,}/gu));
    return text.trim().length >= SENTENCE.letters && words.size >= SENTENCE.words;
  }

  /** Whether expected and observed are what a run on the entry's input gives, computed here again. */
  function reproduced(entry) {
    try {
      const found = Lab.report(entry.input?.[0] ?? {});
      const speed = find(`[data-exercise="${entry.exercise}"]`)?.dataset.asks === "speedup";
      const gives = speed ? [found.speedup, found.speedup] : [found.expected, found.observed];
      return [entry.expected, entry.observed].every((value, at) => Math.abs(value - gives[at]) < NEAR);
    } catch (error) {
      if (error instanceof Lab.Unusable) return false;
      throw error;
    }
  }

  /** The field in which an entry falls short of its stage, and the words for that; null where it marks the stage. */
  function short(entry) {
    const [field] = ASKED[entry.stage];
    if (entry.stage === "implement") return reproduced(entry) ? null : [field, say("not_reproduced")];
    return explains(String(entry[field] ?? "")) ? null : [field, say("not_explained", SENTENCE)];
  }

  function add() {
    const stage = form.stage.value;
    const value = (name) => typed(form[name]);
    const missing = ASKED[stage].find((name) => !form[name].value.trim());
    const wrong = missing ?? ["expected", "observed"].find((name) => !Number.isFinite(value(name)));
    if (wrong || (!pending && !current)) {
      form.told.textContent = say("missing", { field: find(`label[for=lab-note-${wrong ?? "input"}]`).textContent });
      form[wrong ?? "input"].focus();
      return;
    }
    const predicted = Number.isFinite(value("predicted")) ? value("predicted") : null;
    const text = (name) => form[name].value.trim();
    const entry = {
      ...{ ...UNMARKED, stage, exercise: pending?.exercise ?? "", input: pending?.input ?? [current.settings], code: Lab.CODE, predicted },
      ...{ expected: value("expected"), observed: value("observed"), discrepancy: value("observed") - (predicted ?? value("expected")) },
      ...{ transfer: text("transfer"), counterexample: text("counterexample"), errors: text("errors"), edition },
    };
    const [field, words] = short(entry) ?? [];
    if (field) {
      form.input.value = Lab.text(entry.input.length > 1 ? entry.input : entry.input[0]);
      form.told.textContent = words;
      form[field].focus();
      return;
    }
    pages.push(entry);
    pending = null;
    for (const name of ["predicted", "expected", "observed", "transfer", "counterexample", "errors", "input"]) form[name].value = "";
    keep();
    show();
    form.told.textContent = say("saved");
  }

  function notebook() {
    load();
    const stage = element("select", {}, ...Object.keys(ASKED).map((name) => element("option", { value: name }, say(name))));
    const number = () => element("input", { inputmode: "decimal" });
    const area = (rows) => element("textarea", { rows });
    const input = element("textarea", { rows: "3", readonly: "" });
    const told = element("p", { role: "status", class: "lab-status", "data-live": "" });
    const clear = button("clear", () => {
      if (clear.dataset.sure !== "yes") {
        clear.dataset.sure = "yes";
        clear.textContent = say("clear_sure");
        return;
      }
      pages = [];
      keep();
      show();
      clear.dataset.sure = "";
      clear.textContent = say("clear");
    });
    find("#lab-notebook").append(
      element(
        "div",
        { class: "lab-notes" },
        element("div", { class: "lab-row" }, labelled("stage", stage), labelled("predicted", number()), labelled("expected", number(), "expected_field"), labelled("observed", number(), "observed_field")),
        labelled("input", input),
        labelled("counterexample", area("3")),
        labelled("transfer", area("2")),
        labelled("errors", area("2")),
      ),
      element("p", {}, button("save", add, true), button("export_json", () => download("lab-notebook.json", "application/json", Lab.text({ schema: NOTEBOOK, entries: pages }))), button("export_markdown", () => download("lab-notebook.md", "text/markdown", markdown())), clear),
      told,
      element("div", { id: "lab-entries", "data-live": "" }),
    );
    form.told = told;
    show();
  }

  const given_lines = (entry) => [
    [say("stage"), say(entry.stage)],
    [say("code"), entry.code],
    [say("input"), entry.input.map((each) => JSON.stringify(each)).join("\n")],
    [say("predicted"), entry.predicted === null ? "" : Lab.number(entry.predicted)],
    [say("expected_field"), Lab.number(entry.expected)],
    [say("observed_field"), Lab.number(entry.observed)],
    [say("discrepancy"), Lab.number(entry.discrepancy)],
    [say("counterexample"), entry.counterexample],
    [say("transfer"), entry.transfer],
    [say("errors"), entry.errors],
  ];

  const markdown = () =>
    pages.map((entry, at) => `## ${at + 1}\n\n${given_lines(entry).map(([name, text]) => `- **${name}:** ${text.replace(/\n/g, "\n  ")}`).join("\n")}\n`).join("\n");

  function show() {
    const entries = pages.map((entry) =>
      element("div", { class: "lab-entry" }, ...given_lines(entry).filter(([, text]) => text).map(([name, text]) => element("p", {}, element("b", {}, `${name}: `), text))),
    );
    find("#lab-entries").replaceChildren(...(entries.length ? entries : [element("p", {}, say("empty"))]));
    for (const item of all("#lab-contract [data-stage]")) {
      const stage = item.dataset.stage;
      const marked = pages.some((entry) => entry.stage === stage && !short(entry));
      item.classList.toggle("marked", marked);
      find(".lab-mark", item).textContent = say(marked ? "marked" : "unmarked");
    }
  }

  // Begin

  find("article")?.setAttribute("lang", edition);
  fields();
  find("#lab-result").append(element("p", { id: "lab-verdict", class: "lab-verdict", role: "status" }), element("div", { id: "lab-found" }));
  addInput();
  all("[data-exercise]").forEach(exercise);
  notebook();
  put(recalled() ?? {});
  find("#lab-form").addEventListener("input", later(compute));
  find("#lab-form").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    const settings = recalled();
    if (settings) take({ mode: "constant", meaning: "conditional", ...settings });
  });
  compute();
})();
