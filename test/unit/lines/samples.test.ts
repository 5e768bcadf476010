import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { faultsOf, linesOf, samples } from '../../loggers/judge.ts';

const FOLDER = new URL('../../loggers/samples/', import.meta.url);
const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const FORMATS =
  'json text logfmt combined nginx-error apache-error syslog postgres cri pattern'.split(' ');

/** How many rows of a sample are not what stands beside it. */
const FAULTS: Readonly<Record<string, number>> = {
  'caddy-console': 1,
  'charm-log-text': 1,
  'consola-default': 4,
  'debug-colors': 5,
  'debug-pipe': 5,
  'django-runserver-debug': 2,
  'django-runserver-production': 2,
  'dotnet-console': 1,
  'gin-default': 2,
  'go-log-default': 1,
  'go-log-panic': 1,
  'haproxy-stderr': 4,
  'hclog-text': 1,
  'journald-export': 7,
  'journald-short': 1,
  'journald-short-full': 1,
  'journald-short-iso': 1,
  'journald-short-iso-precise': 1,
  'jul-oneline': 4,
  'klog-default': 1,
  'log4rs-pattern': 1,
  'logback-default': 1,
  'lograge-default': 1,
  'lograge-json': 1,
  'mariadb-slow': 7,
  'morgan-short': 3,
  'nestjs-console': 1,
  'python-logging-usual': 1,
  'rabbitmq-default': 7,
  'rich-default': 2,
  'ruby-logger-default': 1,
  'slog-rs-term': 7,
  'spring-boot-default': 1,
  'tracing-subscriber-compact': 2,
  'tracing-subscriber-fmt': 2,
  'tracing-subscriber-plain': 2,
  'tracing-subscriber-pretty': 5,
  'traefik-common': 1,
  'tslog-pretty': 1,
  'zerolog-console': 1,
};

describe('samples of loggers', () => {
  it('are listed once each', () => {
    const names = samples.map(({ name }) => `${name}.log`).sort();
    expect(names).to.deep.equal(readdirSync(FOLDER).sort());
  });

  it('come from forty loggers or more', () => {
    expect(new Set(samples.map(({ program }) => program)).size).to.be.at.least(40);
  });

  for (const sample of samples)
    it(`${sample.name} has a row for each of its lines`, () => {
      const sum = sample.rows.reduce((count, row) => count + row.lines, 0);
      expect(sum, 'lines').to.equal(linesOf(sample).length);

      expect(sample.made).to.be.oneOf(['run', 'by hand']);
      expect(sample.format).to.be.oneOf(FORMATS);
      for (const word of ['program', 'version', 'language', 'setting', 'zone'] as const)
        expect(sample[word], word).to.be.a('string').that.is.not.empty;
      for (const row of sample.rows) {
        expect(row.lines).to.be.at.least(1);
        expect(row.message).to.be.a('string');
        expect(row.metadata).to.be.an('object');
        if (row.severity !== null) expect(row.severity).to.be.oneOf(SEVERITIES);
        if (row.status !== null) expect(row.status).to.be.within(100, 599);
        if (row.timestamp === null) continue;
        expect(row.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
        expect(Date.parse(row.timestamp), row.timestamp).to.be.a('number').that.is.not.NaN;
      }
    });

  for (const sample of samples)
    it(`${sample.name} is read into its rows`, () => {
      const faults = faultsOf(sample);
      expect(faults.length, faults.join('\n')).to.equal(FAULTS[sample.name] ?? 0);
    });
});
