// What must stand on a page for an exact value in a form: half to even, digit by digit, never a float.
(function (findings) {
  "use strict";

  const FORM = /^(?:(plain|group|words|ordinal)|(places|signed|percent|times|sig)\(([0-9]{1,2})\))$/;
  const ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
    "fifteen sixteen seventeen eighteen nineteen").split(" ");
  const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const MINUS = "−";

  /** The text of a value in a form; an error where nothing may be shown. */
  function shown(value, form, lexeme) {
    const parts = FORM.exec(form);
    if (!parts) throw new Error(`${form} is no form in which a number is shown`);
    const [, whole, rounding, written] = parts;
    if (whole === "plain") return plain(value, lexeme);
    if (whole === "group") return grouped(value, lexeme);
    if (whole) return whole === "words" ? words(integer(value)) : ordinal(integer(value));
    const digits = Number(written);
    if (rounding === "sig") return significant(value, digits);
    if (rounding === "percent") return fixed({ n: value.n * 100n, d: value.d }, digits) + "%";
    if (rounding === "times") return fixed(value, digits) + "×";
    return (rounding === "signed" && value.n > 0n ? "+" : "") + fixed(value, digits);
  }

  function plain(value, lexeme) {
    if (lexeme === undefined) throw new Error("an exact fraction wants a form that rounds");
    return (value.n === 0n ? lexeme.replace(/^-/, "") : lexeme).replaceAll("-", MINUS);
  }

  function grouped(value, lexeme) {
    const parts = /^-?[0-9]+(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(lexeme ?? String(integer(value)));
    const places = Math.max(0, (parts[1] ?? "").length - Number(parts[2] ?? 0));
    const [whole, fraction] = fixed(value, places).split(".");
    return whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
  }

  function integer(value) {
    if (value.d !== 1n) throw new Error("the value is no integer");
    return value.n;
  }

  function words(value) {
    if (value < 0n || value > 100n) throw new Error("words prints integers from zero to one hundred");
    const number = Number(value);
    if (number === 100) return "one hundred";
    if (number < 20) return ONES[number];
    const ones = number % 10;
    return TENS[Math.floor(number / 10) - 2] + (ones ? `-${ONES[ones]}` : "");
  }

  function ordinal(value) {
    if (value < 1n) throw new Error("ordinal prints integers from one");
    const teen = value % 100n >= 11n && value % 100n <= 13n;
    return value + (teen ? "th" : { 1: "st", 2: "nd", 3: "rd" }[value % 10n] ?? "th");
  }

  /** The whole number nearest to n / d, ties to the even one; n is not negative. */
  function rounded(n, d) {
    const quotient = n / d;
    const twice = 2n * (n % d);
    return quotient + (twice > d || (twice === d && quotient % 2n === 1n) ? 1n : 0n);
  }

  function positional(scaled, places) {
    const digits = String(scaled).padStart(places + 1, "0");
    return places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
  }

  function fixed(value, places) {
    const size = value.n < 0n ? -value.n : value.n;
    const scaled = rounded(size * 10n ** BigInt(places), value.d);
    if (scaled === 0n && size) throw new Error("a value that is not zero would show as zero");
    return (value.n < 0n ? MINUS : "") + positional(scaled, places);
  }

  function scaledTo(size, d, shift) {
    return shift >= 0 ? rounded(size * 10n ** BigInt(shift), d) : rounded(size, d * 10n ** BigInt(-shift));
  }

  function exponentOf(size, d) {
    let power = String(size).length - String(d).length;
    const reaches = (p) => (p >= 0 ? d * 10n ** BigInt(p) <= size : d <= size * 10n ** BigInt(-p));
    if (!reaches(power)) power -= 1;
    return power;
  }

  function significant(value, digits) {
    if (digits < 1) throw new Error("at least one significant digit must be shown");
    if (value.n === 0n) return positional(0n, digits - 1);
    const sign = value.n < 0n ? MINUS : "";
    const size = value.n < 0n ? -value.n : value.n;
    let power = exponentOf(size, value.d);
    let scaled = scaledTo(size, value.d, digits - 1 - power);
    if (scaled === 10n ** BigInt(digits)) [power, scaled] = [power + 1, scaled / 10n];
    if (power < -4 || power >= 6) {
      const raised = String(power).replace(/[0-9]/g, (c) => SUPERSCRIPTS[c]).replace("-", "⁻");
      return `${sign}${positional(scaled, digits - 1)} × 10${raised}`;
    }
    const places = digits - 1 - power;
    return sign + (places > 0 ? positional(scaled, places) : String(scaled * 10n ** BigInt(-places)));
  }

  findings.shown = shown;
})((globalThis.findings ??= {}));
