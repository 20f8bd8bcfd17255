// Exact rationals: { n, d } with BigInt parts, d positive, in lowest terms.
(function (findings) {
  "use strict";

  const LEXEME = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$/;

  function divisor(a, b) {
    while (b) [a, b] = [b, a % b];
    return a;
  }

  function rational(n, d = 1n) {
    if (d === 0n) throw new Error("division by zero");
    if (d < 0n) [n, d] = [-n, -d];
    const common = divisor(n < 0n ? -n : n, d) || 1n;
    return { n: n / common, d: d / common };
  }

  /** The value of a JSON number as it is written. */
  function exact(lexeme) {
    const parts = LEXEME.exec(lexeme);
    if (!parts) throw new Error(`${lexeme.slice(0, 40)} is no number`);
    const [, sign, whole, fraction = "", exponent = "0"] = parts;
    const digits = BigInt(whole + fraction) * (sign ? -1n : 1n);
    const power = BigInt(exponent) - BigInt(fraction.length);
    return power >= 0n ? rational(digits * 10n ** power) : rational(digits, 10n ** -power);
  }

  const less = (a, b) => a.n * b.d < b.n * a.d;
  const equal = (a, b) => a.n === b.n && a.d === b.d;
  const negated = (a) => ({ n: -a.n, d: a.d });

  const OPERATIONS = {
    "+": (a, b) => rational(a.n * b.d + b.n * a.d, a.d * b.d),
    "-": (a, b) => rational(a.n * b.d - b.n * a.d, a.d * b.d),
    "*": (a, b) => rational(a.n * b.n, a.d * b.d),
    "/": (a, b) => rational(a.n * b.d, a.d * b.n),
    neg: negated,
    abs: (a) => (a.n < 0n ? negated(a) : a),
    min: (...all) => all.reduce((a, b) => (less(b, a) ? b : a)),
    max: (...all) => all.reduce((a, b) => (less(a, b) ? b : a)),
    "<": less,
    "<=": (a, b) => !less(b, a),
    ">": (a, b) => less(b, a),
    ">=": (a, b) => !less(a, b),
    "==": equal,
    "!=": (a, b) => !equal(a, b),
    and: (...truths) => truths.every((each) => each),
    or: (...truths) => truths.some((each) => each),
    not: (truth) => !truth,
  };

  /** A nested list of operations over fields and literals; read gives the lexeme of a field. */
  function evaluate(tree, read) {
    if (typeof tree === "string") {
      const [n, d = "1"] = tree.split("/");
      return rational(BigInt(n), BigInt(d));
    }
    if (!Array.isArray(tree)) throw new Error("no expression");
    if (isField(tree)) return exact(read(...tree));
    const [name, ...operands] = tree;
    return OPERATIONS[name](...operands.map((each) => evaluate(each, read)));
  }

  const isField = (tree) => Array.isArray(tree) && !Object.hasOwn(OPERATIONS, tree[0]);

  /** Every field of an expression, in order. */
  function fields(tree) {
    if (typeof tree === "string") return [];
    return isField(tree) ? [tree] : tree.slice(1).flatMap(fields);
  }

  Object.assign(findings, { exact, rational, evaluate, fields, isField });
})((globalThis.findings ??= {}));
