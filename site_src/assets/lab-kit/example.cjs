const lab = require("./lab.js");
const setting = { draft_length: 4, acceptance: 1, draft: 3, verify: 40, plain: 30, rounds: 100, seed: 42 };
const found = lab.report(setting);
console.log(found.expected, found.observed);
