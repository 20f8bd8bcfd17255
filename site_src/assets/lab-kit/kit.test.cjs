// Checks of the kit: node --test
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const test = require("node:test");
const lab = require("./lab.js");

const vectors = JSON.parse(readFileSync(join(__dirname, "vectors.json"), "utf-8"));

test("reports are those of the vectors, byte for byte", () => {
  assert.ok(vectors.length > 5);
  for (const { settings, report } of vectors) assert.strictEqual(lab.text(lab.report(settings)), report);
});

test("the ends are exact", () => {
  for (let length = 0; length <= 16; length++) {
    assert.strictEqual(lab.tokens(0, length), 1);
    assert.strictEqual(lab.tokens(1, length), length + 1);
  }
});

test("the generator gives the words of its authors", () => {
  const generator = new lab.Generator([1, 2, 3, 4]);
  const words = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849];
  assert.deepStrictEqual(words.map(() => generator.word()), words);
});

test("what is no setting is refused", () => {
  for (const given of [{ acceptance: 2 }, { draft_length: 0.5 }, { mode: "positions" }, { other: 1 }]) {
    assert.throws(() => lab.report(given), lab.Unusable);
  }
});
