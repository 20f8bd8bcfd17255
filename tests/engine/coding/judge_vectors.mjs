/* node judge_vectors.mjs CODER FOLDER [--strict]: what the coder does wrong, as JSON by vector name; strict
   exits with one if it does anything wrong. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [coder, folder] = process.argv.slice(2);
const { judge } = await import(pathToFileURL(coder).href);
const verdicts = {};
for (const file of readdirSync(folder).sort()) {
  const vector = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const name = file.replace(/\.json$/, "");
  try {
    verdicts[name] = judge(vector);
  } catch (error) {
    verdicts[name] = `breaks down: ${error}`;
  }
}
process.stdout.write(JSON.stringify(verdicts));
if (process.argv[4] === "--strict" && Object.values(verdicts).some(Boolean)) process.exitCode = 1;
