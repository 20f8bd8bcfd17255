/* The page on which Lockstep runs: encode, watch the interval, decode, judge the vectors. A classic script, as
   pages opened from a file load no modules; the coder is lockstep-classic.js, made from lockstep.mjs. */
(function () {
  "use strict";
  const { Adaptive, Encoder, Refusal, decode, judge } = window.Lockstep;
  const MODEL = [256, 24, 8192]; // symbols, increment, limit: those of the adaptive profile
  const LONGEST = 4000; // bytes of a message, so that the page stays quick
  const SHOWN = 8; // steps drawn at a time

  /** An element with attributes and children; texts are texts, never markup. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /** A labelled control. */
  function field(label, control) {
    return element("p", {}, element("label", { for: control.id }, label), element("br"), control);
  }

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  /** Bytes of hexadecimal digits, white space aside. */
  function unhex(text) {
    const digits = text.replace(/\s+/g, "");
    if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Refusal("hex", "The code is no string of hexadecimal pairs.");
    return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  }

  /** What a byte is called: its character where it has one. */
  function named(byte) {
    return byte > 32 && byte < 127 ? String.fromCharCode(byte) : `0x${byte.toString(16).padStart(2, "0")}`;
  }

  /** Every narrowing of a message: symbol, share, interval, bits so far. */
  function trace(bytes) {
    const model = new Adaptive(...MODEL);
    const encoder = new Encoder();
    const steps = [];
    let bits = 0;
    for (const symbol of bytes) {
      const step = model.step(symbol);
      encoder.narrow(step);
      model.learn(symbol);
      bits -= Math.log2(step.count / step.total);
      steps.push({ symbol, ...step, low: encoder.low, width: encoder.width, bits });
    }
    return { steps, code: encoder.finish() };
  }

  const STYLE = {
    bar: "position:relative;height:1.1em;border:1px solid currentColor;background:transparent;min-width:8em",
    wide: "width:100%;max-width:100%;box-sizing:border-box;font:inherit;border:1px solid currentColor;padding:.4em",
    control: "font:inherit;border:1px solid currentColor;border-radius:.2em;padding:.3em .8em;cursor:pointer",
    scrolls: "overflow-x:auto",
    breaks: "overflow-wrap:anywhere;word-break:break-all",
    share: "position:absolute;top:0;bottom:0;background:currentColor;min-width:2px",
  };

  /** The share that a symbol takes of the interval before it, drawn to scale. */
  function bar(step) {
    const share = element("div", { style: STYLE.share });
    share.style.left = `${(100 * step.start) / step.total}%`;
    share.style.width = `${(100 * step.count) / step.total}%`;
    return element("div", { style: STYLE.bar, "aria-hidden": "true" }, share);
  }

  /** The rows of the steps up to one of them. */
  function rows(steps, upTo) {
    return steps.slice(Math.max(0, upTo - SHOWN), upTo).map((step, index) => {
      const place = Math.max(0, upTo - SHOWN) + index + 1;
      const cells = [place, named(step.symbol), `${step.count} / ${step.total}`];
      const window = step.width.toString(16).padStart(14, "0");
      return element(
        "tr",
        {},
        ...cells.map((cell) => element("td", {}, String(cell))),
        element("td", {}, bar(step)),
        element("td", {}, element("code", {}, window)),
        element("td", {}, step.bits.toFixed(2)),
      );
    });
  }

  function encodePart(root, handOver) {
    const text = element("textarea", { id: "lockstep-text", rows: "3", style: STYLE.wide });
    text.value = "abracadabra, abracadabra";
    const slider = element("input", { id: "lockstep-step", type: "range", min: "0", max: "0", value: "0" });
    const play = element("button", { type: "button", id: "lockstep-play", style: STYLE.control }, "Play");
    const body = element("tbody");
    const heads = ["step", "byte", "share", "where in the interval", "width in the window", "bits so far"];
    const head = element("tr", {}, ...heads.map((title) => element("th", { scope: "col" }, title)));
    const table = element("table", { id: "lockstep-steps" }, element("thead", {}, head), body);
    const region = { style: STYLE.scrolls, role: "region", tabindex: "0", "aria-label": "Steps of the interval" };
    const framed = element("div", region, table);
    const code = element("output", { id: "lockstep-code", for: "lockstep-text", style: STYLE.breaks });
    const said = element("p", { id: "lockstep-said", role: "status" });
    let traced = { steps: [], code: new Uint8Array() };
    let timer = 0;

    function draw() {
      body.replaceChildren(...rows(traced.steps, Number(slider.value)));
      slider.setAttribute("aria-valuetext", `step ${slider.value} of ${traced.steps.length}`);
    }

    function stop() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    }

    function encodeText() {
      stop();
      const bytes = new TextEncoder().encode(text.value);
      if (bytes.length > LONGEST) {
        said.textContent = `The text has ${bytes.length} bytes; this page takes up to ${LONGEST}.`;
        return;
      }
      traced = trace(bytes);
      slider.max = String(traced.steps.length);
      slider.value = slider.max; // after its bound, or it is clamped to the former one
      code.textContent = hex(traced.code);
      const bits = traced.steps.length ? traced.steps[traced.steps.length - 1].bits : 0;
      said.textContent = `${bytes.length} bytes in ${traced.code.length}; the ideal length is ${bits.toFixed(2)} bits.`;
      handOver(hex(traced.code), bytes.length);
      draw();
    }

    function advance() {
      if (Number(slider.value) >= traced.steps.length) {
        stop();
        return;
      }
      slider.value = String(Number(slider.value) + 1);
      draw();
    }

    play.addEventListener("click", () => {
      if (timer) {
        stop();
        return;
      }
      if (Number(slider.value) >= traced.steps.length) slider.value = "0";
      play.textContent = "Stop";
      timer = setInterval(advance, 400);
      advance();
    });
    text.addEventListener("input", encodeText);
    slider.addEventListener("input", () => {
      stop();
      draw();
    });
    root.append(field("Text", text), said, field("Step", slider), element("p", {}, play), framed);
    root.append(element("p", {}, "Code, in hexadecimal: ", code));
    return encodeText;
  }

  function decodePart(root) {
    const code = element("textarea", { id: "lockstep-hex", rows: "3", spellcheck: "false", style: STYLE.wide });
    const count = element("input", { id: "lockstep-count", type: "number", min: "0", max: String(LONGEST), style: STYLE.control });
    const text = element("output", { id: "lockstep-back", for: "lockstep-hex lockstep-count", style: STYLE.breaks });
    const said = element("p", { id: "lockstep-refusal", role: "status" });

    function decodeCode() {
      text.textContent = "";
      try {
        const asked = Math.min(Math.max(0, Math.trunc(Number(count.value) || 0)), LONGEST);
        const bytes = Uint8Array.from(decode(unhex(code.value), new Adaptive(...MODEL), asked));
        text.textContent = new TextDecoder().decode(bytes);
        said.textContent = "This is the code of exactly one message.";
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        said.textContent = `Refused (${error.clause}): ${error.message}`;
      }
    }

    code.addEventListener("input", decodeCode);
    count.addEventListener("input", decodeCode);
    root.append(field("Code, in hexadecimal", code), field("Bytes in the message", count), said);
    root.append(element("p", {}, "Text: ", text));
    return (digits, length) => {
      code.value = digits;
      count.value = String(length);
      decodeCode();
    };
  }

  /** A judgement that no fault of the coder can stop. */
  function judged(vector) {
    try {
      return judge(vector);
    } catch (error) {
      return `breaks down: ${error}`;
    }
  }

  function vectorsPart(root) {
    const said = element("p", { id: "lockstep-verdict", role: "status" });
    const again = element("button", { type: "button", id: "lockstep-run", style: STYLE.control }, "Run them again");
    const list = element("ul", { id: "lockstep-list" });

    function run() {
      let failed = 0;
      const every = Object.entries(window.lockstepVectors);
      const items = every.map(([name, vector]) => {
        const fault = judged(vector);
        failed += fault === null ? 0 : 1;
        const verdict = fault === null ? "passes" : `fails: ${fault}`;
        return element("li", {}, element("code", {}, name), ` ${verdict}`);
      });
      list.replaceChildren(...items);
      said.textContent = `${every.length - failed} of ${every.length} vectors pass in this browser.`;
    }

    again.addEventListener("click", run);
    const each = element("details", {}, element("summary", {}, "Each of them"), list);
    root.append(said, element("p", {}, again), each);
    return run;
  }

  const place = (name) => document.getElementById(`lockstep-${name}`);
  encodePart(place("encode"), decodePart(place("decode")))();
  setTimeout(vectorsPart(place("vectors")), 0);
})();
