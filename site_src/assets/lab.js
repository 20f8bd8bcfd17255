/* When a draft model helps and when it hurts: the same functions as engine/lab.py, under the same names, giving the
   same JSON byte for byte. A classic script, as pages opened from a file load no modules; Node requires it as it is. */
(function (home) {
  "use strict";

  const SCHEMA = "specdec-sidechannels/lab/1";
  const CODE = "lab/1";
  const MODES = ["constant", "positions", "spread"];
  const MEANINGS = ["conditional", "joint", "proposed"];
  const LONGEST = 16;
  const Z = 1.959963984540054;
  const LEVEL = 0.95;
  const FEW = 30;
  const COSTS = 10;
  const ACCEPTANCES = 20;
  const WORD = 4294967296;

  const field = (unit, least, most, first, whole = false) => ({ unit, least, most, default: first, whole });
  const FIELDS = {
    draft_length: field("tokens", 0, LONGEST, 4, true),
    acceptance: field("share", 0, 1, 0.8),
    kept: field("pseudo-tokens", 1, 1000, 4, true),
    refused: field("pseudo-tokens", 1, 1000, 1, true),
    prompt_rounds: field("rounds a prompt", 1, 1000, 20, true),
    draft: field("milliseconds a token", 0, 10000, 3),
    verify: field("milliseconds a check", 0.001, 100000, 40),
    growth: field("milliseconds a token checked", 0, 10000, 0),
    plain: field("milliseconds a token", 0.001, 100000, 30),
    rounds: field("rounds", 1, 100000, 1000, true),
    seed: field("seed", 0, 4294967295, 42, true),
  };

  const REASONS = {
    range: "Give a number from {least} to {most}.",
    whole: "Give a whole number from {least} to {most}.",
    choice: "This is none of the choices.",
    rates: "Give one to {most} rates between zero and one.",
    rising: "A share of all rounds cannot rise from one position to the next; these are other rates.",
    short: "The list has rates for {most} positions; draft no more tokens than that.",
    meaning: "This meaning does not fit: a rate over all proposed tokens is one number, not a list.",
    empty: "This meaning needs a draft of at least one token.",
    multiple: "Give a multiple of the rounds a prompt.",
    unreadable: "This is no list of rates, no metrics of vLLM and no record of AIPerf.",
    "no-drafts": "The metrics lack spec_decode_num_drafts, without which counts are no rates.",
  };

  /** A setting or a pasted text that cannot be used: its field, a code that is a message's name, the limits. */
  class Unusable extends Error {
    constructor(name, code, least = 0, most = 0) {
      super(`${name}: ${REASONS[code].replace("{least}", number(least)).replace("{most}", number(most))}`);
      Object.assign(this, { field: name, code, least, most });
    }
  }

  /** Settings with what is not given taken from the defaults; throws Unusable at the first that is not one. */
  function settings(given) {
    const beside = ["mode", "meaning", "rates"];
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(FIELDS, name) && !beside.includes(name)) throw new Unusable(name, "choice");
    }
    const { mode = MODES[0], meaning = MEANINGS[0] } = given;
    if (!MODES.includes(mode)) throw new Unusable("mode", "choice");
    if (!MEANINGS.includes(meaning)) throw new Unusable("meaning", "choice");
    const value = (name) => entered(name, name in given ? given[name] : FIELDS[name].default);
    const found = { mode, meaning, draft_length: value("draft_length"), acceptance: value("acceptance") };
    found.rates = [];
    for (const name of Object.keys(FIELDS).slice(2)) found[name] = value(name);
    if (mode === "positions") found.rates = rates(given.rates ?? []);
    fit(found);
    return found;
  }

  function entered(name, value) {
    const { least, most, whole } = FIELDS[name];
    const usable = typeof value === "number" && least <= value && value <= most;
    if (!usable || (whole && value !== Math.floor(value))) throw new Unusable(name, whole ? "whole" : "range", least, most);
    return value;
  }

  function rates(given) {
    const usable = Array.isArray(given) && given.length >= 1 && given.length <= LONGEST;
    if (!usable || !given.every((rate) => typeof rate === "number" && 0 <= rate && rate <= 1)) {
      throw new Unusable("rates", "rates", 0, LONGEST);
    }
    return [...given];
  }

  /** What settings must be to each other. */
  function fit(s) {
    if (s.mode === "positions") {
      if (s.meaning === "proposed") throw new Unusable("meaning", "meaning");
      const rising = s.rates.some((rate, index) => index > 0 && rate > s.rates[index - 1]);
      if (s.meaning === "joint" && rising) throw new Unusable("rates", "rising");
      if (s.draft_length > s.rates.length) throw new Unusable("draft_length", "short", 0, s.rates.length);
    }
    if (s.mode === "constant" && s.meaning !== "conditional" && s.draft_length === 0) throw new Unusable("meaning", "empty");
    if (s.mode === "spread" && s.rounds % s.prompt_rounds) throw new Unusable("rounds", "multiple");
  }

  // What a round is worth

  function kept_to(acceptance, length) {
    const chances = [];
    let chance = 1;
    for (let step = 0; step < length; step++) {
      chance = chance * acceptance;
      chances.push(chance);
    }
    return chances;
  }

  function total(values) {
    let result = 0;
    for (const value of values) result = result + value;
    return result;
  }

  /** Expected tokens a check under one acceptance: 1 + a + ... + a^length. */
  const tokens = (acceptance, length) => 1 + total(kept_to(acceptance, length));

  /** Where in 0 to 1 a rising function reaches an aim, to twelve decimals. */
  function solve(rising, aim) {
    let low = 0;
    let high = 1;
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (rising(middle) < aim) low = middle;
      else high = middle;
    }
    return Math.floor(high * 1e12 + 0.5) / 1e12;
  }

  function acceptance_of(s) {
    if (s.meaning === "conditional" || s.acceptance === 0 || s.acceptance === 1) return s.acceptance;
    if (s.meaning === "proposed") return solve((a) => total(kept_to(a, s.draft_length)), s.acceptance * s.draft_length);
    return solve((a) => kept_to(a, s.draft_length)[s.draft_length - 1], s.acceptance);
  }

  /** Chance of a round to keep the token at each position, over all rounds. */
  function joints(s, length) {
    if (s.mode === "constant") return kept_to(acceptance_of(s), length);
    if (s.mode === "positions" && s.meaning === "joint") return s.rates.slice(0, length);
    const chances = [];
    let chance = 1;
    for (let index = 0; index < length; index++) {
      if (s.mode === "positions") chance = chance * s.rates[index];
      else chance = chance * ((s.kept + index) / (s.kept + s.refused + index));
      chances.push(chance);
    }
    return chances;
  }

  /** Chance of each position to keep its token, given that all before it were kept. */
  function conditionals(s) {
    if (s.mode === "positions" && s.meaning === "conditional") return s.rates.slice(0, s.draft_length);
    if (s.mode === "constant") return new Array(s.draft_length).fill(acceptance_of(s));
    let before = 1;
    return joints(s, s.draft_length).map((chance) => {
      const found = before > 0 ? chance / before : 0;
      before = chance;
      return found;
    });
  }

  const round_cost = (s, length, draft) => length * draft + s.verify + length * s.growth;

  function break_even(s, draft) {
    const aim = round_cost(s, s.draft_length, draft) / s.plain;
    if (aim <= 1) return 0;
    if (aim > s.draft_length + 1) return null;
    return aim === s.draft_length + 1 ? 1 : solve((a) => tokens(a, s.draft_length), aim);
  }

  function equivalent(s, expected) {
    if (s.draft_length === 0) return null;
    if (s.mode === "constant") return acceptance_of(s);
    if (expected === 1) return 0;
    if (expected === s.draft_length + 1) return 1;
    return solve((a) => tokens(a, s.draft_length), expected);
  }

  function curve(s) {
    const longest = s.mode === "positions" ? s.rates.length : LONGEST;
    const chances = joints(s, longest);
    const rows = [];
    for (let length = 0; length <= longest; length++) {
      const expected = 1 + total(chances.slice(0, length));
      const cost = round_cost(s, length, s.draft);
      rows.push({ draft_length: length, expected, round_cost: cost, speedup: (expected * s.plain) / cost });
    }
    return rows;
  }

  function best_of(rows) {
    let best = rows[0];
    for (const row of rows) if (row.speedup > best.speedup) best = row;
    return { draft_length: best.draft_length, speedup: best.speedup };
  }

  function map_of(s) {
    const steps = (count) => Array.from({ length: count + 1 }, (_, index) => index / count);
    const costs = steps(COSTS);
    const acceptances = steps(ACCEPTANCES);
    const gain = (a, cost) => (tokens(a, s.draft_length) * s.plain) / round_cost(s, s.draft_length, cost * s.plain);
    return {
      costs,
      acceptances,
      speedup: acceptances.map((acceptance) => costs.map((cost) => gain(acceptance, cost))),
      break_even: costs.map((cost) => break_even(s, cost * s.plain)),
    };
  }

  // What a run of rounds gives

  function mixed(word) {
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return (word ^ (word >>> 16)) >>> 0;
  }

  const turned = (word, by) => (word << by) | (word >>> (32 - by));

  /** xoshiro128** of Blackman and Vigna: 32-bit words from four of state. */
  class Generator {
    constructor(state) {
      this.state = [...state];
    }

    static of(seed) {
      return new Generator([1, 2, 3, 4].map((step) => mixed((seed + 0x9e3779b9 * step) % WORD)));
    }

    word() {
      let [a, b, c, d] = this.state;
      const result = Math.imul(turned(Math.imul(b, 5), 7), 9) >>> 0;
      c ^= a;
      d ^= b;
      this.state = [a ^ d, b ^ c, c ^ (b << 9), turned(d, 11)];
      return result;
    }

    below(count) {
      const limit = WORD - (WORD % count);
      let word = this.word();
      while (word >= limit) word = this.word();
      return word % count;
    }
  }

  /** Drafted tokens that each round keeps; under `spread` a prompt is an urn (Pólya), which is a Beta law. */
  function* rounds_kept(s) {
    const generator = Generator.of(s.seed);
    if (s.mode !== "spread") {
      const chances = conditionals(s).map((chance) => chance * WORD);
      for (let round = 0; round < s.rounds; round++) {
        let kept = 0;
        while (kept < s.draft_length && generator.word() < chances[kept]) kept++;
        yield kept;
      }
      return;
    }
    for (let prompt = 0; prompt < Math.floor(s.rounds / s.prompt_rounds); prompt++) {
      let good = s.kept;
      let all = s.kept + s.refused;
      for (let round = 0; round < s.prompt_rounds; round++) {
        let kept = 0;
        while (kept < s.draft_length) {
          const accepted = generator.below(all) < good;
          all++;
          if (!accepted) break;
          good++;
          kept++;
        }
        yield kept;
      }
    }
  }

  function simulation(s) {
    const size = s.mode === "spread" ? s.prompt_rounds : 1;
    const counts = new Array(s.draft_length + 1).fill(0);
    const means = [];
    let sum = 0;
    let at = 0;
    let index = 0;
    for (const kept of rounds_kept(s)) {
      index++;
      counts[kept]++;
      sum += kept + 1;
      at += kept + 1;
      if (index % size === 0) {
        means.push(at / size);
        at = 0;
      }
    }
    const observed = sum / s.rounds;
    return { observed, interval: interval(means, observed), groups: means.length, few: means.length < FEW, kept: counts };
  }

  function interval(means, observed) {
    if (means.length < 2) return null;
    const squares = total(means.map((mean) => (mean - observed) * (mean - observed)));
    if (squares === 0) return null;
    const half = Z * Math.sqrt(squares / (means.length - 1) / means.length);
    return { low: observed - half, high: observed + half, level: LEVEL };
  }

  /** The simulated rounds as AIPerf records acceptance, so that other tools read them. */
  function record_of(s, counts) {
    const accepted = counts.reduce((sum, count, kept) => sum + kept * count, 0);
    const drafted = s.draft_length * s.rounds;
    const filled = counts.map((count, kept) => [String(kept), count]).filter(([, count]) => count);
    return {
      engine: "simulation",
      mean_acceptance_length: 1 + accepted / s.rounds,
      draft_acceptance_rate: drafted ? accepted / drafted : null,
      acceptance_histogram: Object.fromEntries(filled),
      num_accepted_draft_tokens: accepted,
      num_draft_tokens: drafted,
      num_spec_steps: s.rounds,
      num_spec_tokens: s.draft_length,
    };
  }

  /** Everything that the settings give; throws Unusable where they give nothing. */
  function report(given) {
    const s = settings(given);
    const chances = joints(s, s.draft_length);
    const expected = 1 + total(chances);
    const cost = round_cost(s, s.draft_length, s.draft);
    const speedup = (expected * s.plain) / cost;
    const found = simulation(s);
    const rows = curve(s);
    return {
      schema: SCHEMA,
      code: CODE,
      settings: s,
      expected,
      observed: found.observed,
      interval: found.interval,
      discrepancy: found.observed - expected,
      groups: found.groups,
      few: found.few,
      round_cost: cost,
      speedup,
      verdict: speedup > 1 ? "faster" : speedup < 1 ? "slower" : "even",
      acceptance: {
        conditional: conditionals(s),
        joint: chances,
        proposed: s.draft_length ? total(chances) / s.draft_length : null,
        equivalent: equivalent(s, expected),
      },
      break_even: break_even(s, s.draft),
      best: best_of(rows),
      curve: rows,
      map: map_of(s),
      record: record_of(s, found.kept),
    };
  }

  // What is pasted

  const NUMBER = "[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?";
  const LIST = new RegExp(`^\\s*\\[?\\s*(${NUMBER}(?:[\\s,;]+${NUMBER})*)[\\s,;]*\\]?\\s*$`);
  const LOGGED = new RegExp(`[Pp]er-position acceptance rate:\\s*(${NUMBER}(?:\\s*,\\s*${NUMBER})*)`, "g");
  const COUNTED = new RegExp(
    `^[a-z_:]*spec_decode_num_(accepted_tokens_per_pos|drafts)(?:_total)?(?:\\{([^}\\n]*)\\})?\\s+(${NUMBER})`,
    "gm",
  );

  /** Rates by position from a text: vLLM's metrics or log, a record of AIPerf, or a plain list. */
  function pasted(text) {
    if (text.trimStart().startsWith("{")) return from_record(text);
    if (text.includes("spec_decode_num_accepted_tokens_per_pos")) return from_metrics(text);
    const logged = [...text.matchAll(LOGGED)];
    if (logged.length) return read("vllm-log", numbers(logged[logged.length - 1][1]), "joint");
    const plain = LIST.exec(text);
    if (!plain) throw new Unusable("paste", "unreadable");
    return read("list", numbers(plain[1]), null);
  }

  const read = (source, found, meaning) => ({ source, rates: rates(found), meaning });
  const numbers = (text) => (text.match(new RegExp(NUMBER, "g")) ?? []).map(Number);

  function from_metrics(text) {
    let drafts = 0;
    let longest = 0;
    const counts = new Array(LONGEST).fill(0);
    for (const [, kind, labels, value] of text.matchAll(COUNTED)) {
      const position = /position="([0-9]+)"/.exec(labels ?? "");
      if (kind === "drafts") drafts += Number(value);
      else if (position && Number(position[1]) < LONGEST) {
        counts[Number(position[1])] += Number(value);
        longest = Math.max(longest, Number(position[1]) + 1);
      }
    }
    if (drafts <= 0) throw new Unusable("paste", "no-drafts");
    return read("vllm-metrics", counts.slice(0, longest).map((count) => count / drafts), "joint");
  }

  const is_count = (value, most) => typeof value === "number" && 0 <= value && value <= most && value === Math.floor(value);

  function from_record(text) {
    let record = null;
    try {
      record = holder(JSON.parse(text), 8);
    } catch {
      record = null;
    }
    if (record === null) throw new Unusable("paste", "unreadable");
    let steps = 0;
    const kept = new Array(LONGEST + 1).fill(0);
    for (const [key, count] of Object.entries(record.acceptance_histogram)) {
      const usable = /^[0-9]{1,2}$/.test(key) && Number(key) <= LONGEST && is_count(count, 2 ** 40);
      if (!usable) throw new Unusable("paste", "unreadable");
      kept[Number(key)] += count;
      steps += count;
    }
    const drafted = record.num_spec_tokens;
    const used = kept.reduce((last, count, place) => (count ? place : last), 0);
    const longest = is_count(drafted, LONGEST) && drafted ? drafted : used;
    const above = (place) => kept.slice(place).reduce((sum, count) => sum + count, 0);
    if (steps === 0 || longest === 0 || above(longest + 1)) throw new Unusable("paste", "unreadable");
    return read("aiperf", Array.from({ length: longest }, (_, index) => above(index + 1) / steps), "joint");
  }

  const is_object = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

  function holder(value, depth) {
    if (!is_object(value) || depth === 0) return null;
    if (is_object(value.acceptance_histogram)) return value;
    for (const below of Object.values(value)) {
      const found = holder(below, depth - 1);
      if (found) return found;
    }
    return null;
  }

  // How it is written

  /** A number in plain decimal notation: the shortest digits that read back as the same one. */
  function number(value) {
    if (!Number.isFinite(value)) throw new RangeError("a number that is not finite cannot be written");
    const [digits, exponent] = String(value).split("e");
    if (exponent === undefined) return digits;
    const sign = digits.startsWith("-") ? "-" : "";
    const [whole, fraction = ""] = digits.replace("-", "").split(".");
    const power = Number(exponent);
    if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${whole}${fraction}`;
    return `${sign}${whole}${fraction}${"0".repeat(power - fraction.length)}`;
  }

  /** JSON with two spaces of indentation, lists of plain values on one line. */
  function written(value, indent = "") {
    if (typeof value === "number") return number(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const inner = `${indent}  `;
    if (!Array.isArray(value)) {
      const members = Object.entries(value).map(([key, below]) => `${inner}${JSON.stringify(key)}: ${written(below, inner)}`);
      return members.length ? `{\n${members.join(",\n")}\n${indent}}` : "{}";
    }
    if (value.every((each) => typeof each !== "object" || each === null)) return `[${value.map((each) => written(each)).join(", ")}]`;
    return `[\n${value.map((each) => inner + written(each, inner)).join(",\n")}\n${indent}]`;
  }

  const text = (value) => `${written(value)}\n`;

  const made = { SCHEMA, CODE, MODES, MEANINGS, FIELDS, LONGEST, LEVEL, FEW, Unusable, Generator };
  Object.assign(made, { settings, tokens, solve, report, pasted, number, written, text });
  if (typeof module === "object" && module.exports) module.exports = made;
  else home.Lab = made;
})(typeof globalThis === "object" ? globalThis : this);
