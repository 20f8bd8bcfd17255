/* Made from lockstep.mjs by tests/engine/coding/make_page_assets.py. */
window.Lockstep = (function () {
"use strict";
/* Lockstep, the range coder in integers, a second time: written from the statement in docs/lockstep.md.
   Messages are arrays of numbers, codes are Uint8Array; what cannot be is thrown as a Refusal with its
   clause. Runs in browsers and under Node, without dependencies. */

const WINDOW = 56n;
const WORD = 16n;
const FULL = 1n << WINDOW;
const LEAST = FULL >> WORD;
const TOP = (1n << WORD) - 1n;
const TAIL = 7;
const TOTAL_LIMIT = 2 ** 24;

class Refusal extends Error {
  constructor(clause, message) {
    super(message);
    this.name = "Refusal";
    this.clause = clause;
  }
}

/** Fixed shares: counts[symbol], integers from 0 up. */
class Static {
  constructor(counts) {
    if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
      throw new Refusal("model", "A count is no integer from 0 up.");
    }
    this.counts = counts;
    this.total = counts.reduce((sum, count) => sum + count, 0);
    if (!(this.total >= 1 && this.total <= TOTAL_LIMIT)) {
      throw new Refusal("model", `The total is ${this.total}.`);
    }
  }

  /** Start, count and total of a symbol. */
  step(symbol) {
    const count = this.counts[symbol];
    if (!count) throw new Refusal("symbol", `Symbol ${symbol} has no share.`);
    return { start: sumBefore(this.counts, symbol), count, total: this.total };
  }

  /** The symbol whose share holds a slot. */
  find(slot) {
    let symbol = 0;
    let start = 0;
    while (slot >= start + this.counts[symbol]) start += this.counts[symbol++];
    return symbol;
  }

  learn() {}
}

/** Shares that follow the message: counts of one, raised by the increment, halved upwards past the limit. */
class Adaptive {
  constructor(symbols, increment, limit) {
    const fits = symbols >= 1 && increment >= 1 && symbols + increment <= limit && limit <= TOTAL_LIMIT;
    if (!fits) throw new Refusal("model", `No model has ${symbols}, ${increment} and ${limit}.`);
    this.increment = increment;
    this.limit = limit;
    this.counts = new Array(symbols).fill(1);
    this.total = symbols;
  }

  step(symbol) {
    const count = this.counts[symbol];
    if (!count) throw new Refusal("symbol", `Symbol ${symbol} is unknown.`);
    return { start: sumBefore(this.counts, symbol), count, total: this.total };
  }

  find(slot) {
    return Static.prototype.find.call(this, slot);
  }

  learn(symbol) {
    this.counts[symbol] += this.increment;
    this.total += this.increment;
    if (this.total > this.limit) {
      this.counts = this.counts.map((count) => count - Math.floor(count / 2));
      this.total = this.counts.reduce((sum, count) => sum + count, 0);
    }
  }
}

/** Static models taken in turn. */
class Cycle {
  constructor(tables) {
    this.models = tables.map((counts) => new Static(counts));
    this.at = 0;
  }

  get total() {
    return this.models[this.at].total;
  }

  step(symbol) {
    return this.models[this.at].step(symbol);
  }

  find(slot) {
    return this.models[this.at].find(slot);
  }

  learn() {
    this.at = (this.at + 1) % this.models.length;
  }
}

function sumBefore(counts, symbol) {
  let sum = 0;
  for (let i = 0; i < symbol; i++) sum += counts[i];
  return sum;
}

/** Narrow an interval of the window, or of the decoder's view of it where low is not known. */
function narrowed(low, width, step) {
  const unit = width / BigInt(step.total);
  return [low + unit * BigInt(step.start), unit * BigInt(step.count)];
}

/** The shortest ending: how many bytes of the window, and the point that they name. */
function ending(low, width) {
  for (let length = 0; ; length++) {
    const unit = FULL >> BigInt(8 * length);
    const point = ((low + unit - 1n) / unit) * unit;
    if (point + unit <= low + width) return { length, point };
  }
}

class Encoder {
  constructor() {
    this.low = 0n;
    this.width = FULL;
    this.words = []; // settled
    this.held = 0n; // the next one, which a carry may raise
    this.run = 0; // words of ones behind it
  }

  /** Narrow to one symbol's share. */
  narrow(step) {
    [this.low, this.width] = narrowed(this.low, this.width, step);
    while (this.width < LEAST) {
      this.leave(this.low / LEAST);
      this.low = (this.low % LEAST) << WORD;
      this.width <<= WORD;
    }
  }

  leave(word) {
    if (word === TOP) {
      this.run++;
      return;
    }
    this.words.push(...this.waiting(word >> WORD));
    this.held = word & TOP;
    this.run = 0;
  }

  waiting(carry) {
    return [this.held + carry, ...new Array(this.run).fill(carry ? 0n : TOP)];
  }

  /** The code of what came so far. */
  finish() {
    const { length, point } = ending(this.low, this.width);
    const words = [...this.words, ...this.waiting(point / FULL)].slice(1);
    const code = new Uint8Array(2 * words.length + length);
    words.forEach((word, i) => code.set([Number(word >> 8n), Number(word & 255n)], 2 * i));
    for (let i = 0; i < length; i++) {
      code[2 * words.length + i] = Number((point >> (WINDOW - 8n * BigInt(i + 1))) & 255n);
    }
    return code;
  }
}

/** The code of a message. */
function encode(message, model) {
  const encoder = new Encoder();
  for (const symbol of message) {
    encoder.narrow(model.step(symbol));
    model.learn(symbol);
  }
  return encoder.finish();
}

/** The message of `count` symbols, or of at most `count` and ending with `end` unless that is null. */
function decode(code, model, count, end = null) {
  const byte = (at) => BigInt(at < code.length ? code[at] : 0);
  const window = (at) => {
    let value = 0n;
    for (let i = 0; i < TAIL; i++) value = (value << 8n) | byte(at + i);
    return value;
  };
  let value = window(0);
  let width = FULL;
  let at = 0;
  const message = [];
  while (message.length < count && (end === null || message.at(-1) !== end)) {
    const slot = Number(value / (width / BigInt(model.total)));
    if (slot >= model.total) throw new Refusal("slack", "The code lies in no symbol's share.");
    const symbol = model.find(slot);
    const [start, share] = narrowed(0n, width, model.step(symbol));
    value -= start;
    width = share;
    while (width < LEAST) {
      at += 2;
      if (at > code.length) throw new Refusal("truncated", "The code stops before its message.");
      value = (value << WORD) | (byte(at + TAIL - 2) << 8n) | byte(at + TAIL - 1);
      width <<= WORD;
    }
    model.learn(symbol);
    message.push(symbol);
  }
  if (end !== null && message.at(-1) !== end) throw new Refusal("endless", "The message has no end.");
  const low = BigInt.asUintN(Number(WINDOW), window(at) - value);
  const { length, point } = ending(low, width);
  if (code.length < at + length) throw new Refusal("truncated", "The code stops before its message.");
  if (code.length > at + length) throw new Refusal("trailing", "The code goes on after its message.");
  if (value !== point - low) throw new Refusal("canonical", "The code is not the shortest of its message.");
  return message;
}

/** A fresh model from the description in a conformance vector. */
function describedModel(described) {
  if (described.kind === "cycle") return new Cycle(described.tables);
  if (described.kind === "adaptive") {
    return new Adaptive(described.symbols, described.increment, described.limit);
  }
  return new Static(described.counts);
}

/** What this coder does wrong with a conformance vector, or null. */
function judge(vector) {
  const hex = (code) => Array.from(code, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const code = Uint8Array.from(vector.code.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  try {
    if (!vector.refused || vector.refused === "symbol") {
      const made = hex(encode(vector.message, describedModel(vector.model)));
      if (made !== vector.code) return `encodes to ${made}`;
    }
    const read = decode(code, describedModel(vector.model), vector.count, vector.end);
    if (vector.refused) return `decodes, and should be refused as ${vector.refused}`;
    return JSON.stringify(read) === JSON.stringify(vector.message) ? null : `decodes to ${read}`;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.clause === vector.refused ? null : `is refused as ${error.clause}: ${error.message}`;
  }
}
return { TOTAL_LIMIT, Refusal, Static, Adaptive, Cycle, Encoder, encode, decode, describedModel, judge };
})();
