// Mocha's report `spec`, and a line of JSON for each case in the file that TAILPOND_TEST_CASES names, where one is named. `.ci/report.mjs`
// reads it. It is CommonJS, as mocha loads reporters by `require`.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters } = require('mocha');

module.exports = class Report extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const path = process.env.TAILPOND_TEST_CASES;
    if (!path) return;
    const note = (result) => (test, error) =>
      appendFileSync(
        path,
        `${JSON.stringify({
          result,
          file: relative(process.cwd(), test.file ?? ''),
          title: test.fullTitle(),
          ms: test.duration ?? 0,
          error: error?.stack ?? error?.message,
        })}\n`,
      );
    runner.on('pass', note('passed'));
    runner.on('fail', note('failed'));
    runner.on('pending', note('skipped'));
  }
};
