import type { Format } from '../line.ts';
import { apacheError } from './apache-error.ts';
import { combined } from './combined.ts';
import { cri } from './cri.ts';
import { haproxy } from './haproxy.ts';
import { logfmt } from './logfmt.ts';
import { nginxError } from './nginx-error.ts';
import { postgres } from './postgres.ts';
import { postgresCsv } from './postgres-csv.ts';
import { syslog } from './syslog.ts';
import { text } from './text.ts';

/** The formats that the lines of a source may have beside JSON objects, in the order in which they are tried. */
export const LINE_FORMATS = {
  json: [],
  auto: [
    nginxError,
    apacheError,
    combined,
    haproxy,
    postgres,
    postgresCsv,
    cri,
    syslog,
    logfmt,
    text,
  ],
  text: [text],
  logfmt: [logfmt],
  combined: [combined, nginxError, apacheError],
  nginx: [combined, nginxError],
  'nginx-error': [nginxError],
  apache: [combined, apacheError],
  'apache-error': [apacheError],
  syslog: [syslog],
  haproxy: [haproxy],
  postgres: [postgres, postgresCsv],
  cri: [cri],
} as const satisfies Readonly<Record<string, readonly Format[]>>;
