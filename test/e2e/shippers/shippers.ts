import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../server/config/package-root.ts';
import { eventually } from '../../support/helpers.ts';

/** A program that takes syslog messages and writes them as NDJSON, as Debian ships it. */
export interface Shipper {
  readonly name: string;
  /** Where the program is; null when it is not installed. */
  readonly program: string | null;
  /** Starts it in the foreground: what it needs is made in `folder`, and it appends to `file`. */
  start(folder: string, file: string): Promise<Shipping>;
  /** The same by rules of one's own, as a file of its configuration's folder holds them; those say where to. */
  startBy(folder: string, rules: string): Promise<Shipping>;
}

/** A shipper that runs. */
export interface Shipping {
  readonly pid: number;
  /** Sends messages, one a line, through a connection that stays open until the end. */
  send(messages: readonly string[]): Promise<void>;
  end(): Promise<void>;
}

export const INSTALL = 'install it by test/support/install-shippers.sh';

const UNPACKED = join(ROOT, 'test/.shippers/usr');

/** rsyslog, fed by TCP, writing by a list template in JSON. */
export const rsyslog: Shipper = {
  name: 'rsyslog',
  program: find('rsyslogd'),
  start(folder, file) {
    return this.startBy(
      folder,
      `template(name="ndjson" type="list" option.jsonf="on") {
  property(outname="timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="program" name="app-name" format="jsonf")
  property(outname="severity" name="syslogseverity-text" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
  constant(outname="project" value="shop" format="jsonf")
}
# What rsyslog says about itself is not among the messages.
if $inputname == "imtcp" then action(type="omfile" file="${file}" template="ndjson")
`,
    );
  },
  startBy(folder, rules) {
    const port = join(folder, 'rsyslog.port');
    const config = join(folder, 'rsyslog.conf');
    writeFileSync(
      config,
      `global(workDirectory="${folder}" parser.escapeControlCharactersOnReceive="off")
module(load="imtcp")
input(type="imtcp" address="127.0.0.1" port="0" listenPortFileName="${port}")
${rules}`,
    );
    const program = this.program ?? '';
    const child = run(program, ['-n', '-f', config, '-i', join(folder, 'rsyslog.pid')]);
    return ship(child, () => ({ host: '127.0.0.1', port: Number(readFileSync(port, 'utf8')) }));
  },
};

/** syslog-ng, fed by a socket, writing by `$(format-json)`. */
export const syslogNg: Shipper = {
  name: 'syslog-ng',
  program: find('syslog-ng'),
  start(folder, file) {
    return this.startBy(
      folder,
      `destination ingesting {
  file("${file}" template("$(format-json timestamp=$ISODATE host=$HOST program=$PROGRAM severity=$LEVEL message=$MSG project=shop)\\n"));
};
log { source(s_src); destination(ingesting); flags(flow-control); };
options { frac-digits(3); };
`,
    );
  },
  startBy(folder, rules) {
    const program = this.program ?? '';
    const socket = join(folder, 'syslog-ng.socket');
    const config = join(folder, 'syslog-ng.conf');
    writeFileSync(
      config,
      `@version: 3.35
source s_src { unix-stream("${socket}" flags(syslog-protocol)); };
options { keep-hostname(yes); };
${rules}`,
    );
    const args = ['-F', '--no-caps', '-f', config];
    for (const [option, name] of [
      ['--persist-file', 'syslog-ng.persist'],
      ['--control', 'syslog-ng.control'],
      ['--pidfile', 'syslog-ng.pid'],
    ] as const)
      args.push(option, join(folder, name));
    const unpacked = program.startsWith(UNPACKED);
    const libraries = join(UNPACKED, 'lib/syslog-ng');
    if (unpacked) args.push('--module-path', modules(libraries));
    const child = run(program, args, unpacked ? { LD_LIBRARY_PATH: libraries } : {});
    return ship(child, () => ({ path: socket }));
  },
};

/** The folder of the modules is named after the version. */
function modules(libraries: string): string {
  const version = readdirSync(libraries).find((name) => /^\d+\.\d+$/.test(name));
  return join(libraries, version ?? '');
}

export const LOGROTATE = find('logrotate');

/** Rotates `file` by logrotate, at once; `directives` say how. Gives its output. */
export function rotate(folder: string, file: string, directives: string): Promise<string> {
  return logrotate(folder, `"${file}" {\n${directives}\n}\n`);
}

/** Runs logrotate by a configuration, at once and with a state file of its own. Gives its output. */
export async function logrotate(folder: string, rules: string): Promise<string> {
  const config = join(folder, 'logrotate.conf');
  writeFileSync(config, rules, { mode: 0o644 });
  const args = ['--verbose', '--force', '--state', join(folder, 'logrotate.state'), config];
  const { stdout, stderr } = await promisify(execFile)(LOGROTATE ?? '', args, {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout + stderr;
}

/** Where a program is that is installed, or unpacked for the tests; null where it is not. */
export function find(name: string): string | null {
  const unpacked = ['sbin', 'bin', 'lib/systemd'].map((folder) => join(UNPACKED, folder));
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', ...unpacked];
  return folders.map((folder) => join(folder, name)).find(existsSync) ?? null;
}

interface Program {
  readonly child: ChildProcess;
  readonly output: string[];
}

function run(program: string, args: string[], env: Record<string, string> = {}): Program {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => output.push(String(chunk)));
  return { child, output };
}

async function ship({ child, output }: Program, address: () => NetConnectOpts): Promise<Shipping> {
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  try {
    const socket = await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`the shipper ended: ${output.join('')}`);
      return await open(address());
    });
    return {
      pid: child.pid ?? 0,
      async send(messages) {
        const text = messages.map((message) => `${message}\n`).join('');
        if (!socket.write(text)) await once(socket, 'drain');
      },
      async end() {
        socket.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(address: NetConnectOpts): Promise<Socket> {
  const socket = connect(address);
  await once(socket, 'connect');
  return socket;
}
