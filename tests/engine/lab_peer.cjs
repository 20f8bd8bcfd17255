// Answers questions to the second implementation: [function, argument] pairs in, texts or refusals out.
const lab = require(process.argv[2]);
const asked = JSON.parse(require("node:fs").readFileSync(0, "utf-8"));
const answer = {
  report: (given) => lab.text(lab.report(given)),
  pasted: (text) => lab.text(lab.pasted(text)),
  number: (value) => lab.number(value),
  words: ({ state, seed, count }) => {
    const generator = state ? new lab.Generator(state) : lab.Generator.of(seed);
    return Array.from({ length: count }, () => generator.word());
  },
  constants: () => ({ fields: lab.FIELDS, code: lab.CODE, schema: lab.SCHEMA, level: lab.LEVEL, few: lab.FEW }),
};
const told = asked.map(([name, argument]) => {
  try {
    return answer[name](argument);
  } catch (error) {
    if (error instanceof lab.Unusable) return `refused ${error.message}`;
    throw error;
  }
});
process.stdout.write(JSON.stringify(told));
