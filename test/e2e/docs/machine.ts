import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../support/helpers.ts';
import { freePort } from '../../support/port.ts';
import { install } from './installation.ts';

/**
 * A machine as the docs speak of it, below a scratch folder: the project in /srv/tailpond, /backups, /etc/tailpond.env, the
 * service at port 4000 as the unit `tailpond`. Commands are run as they are written, but that these paths lead below the
 * scratch folder, the port is a free one, and `systemctl`, `journalctl`, `sudo` and `tailpond` are those of bin/.
 */
export interface Machine {
  /** Runs commands by bash in the project's folder; gives what they write, and `exit code N` where that is not 0. */
  run(commands: string): Promise<string>;
  /** Writes a file of the project. */
  write(file: string, text: string): void;
}

const PLACES = /(?<![\w./-])\/(?=(?:srv\/tailpond|backups|etc\/tailpond\.env)\b)/g;
const COMMANDS_MS = 30_000;
/** The service may read what its user may, even if that is root. */
const POWERLESS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
const BIN = join(import.meta.dirname, 'bin');

export async function withMachine<T>(action: (machine: Machine) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'tailpond-docs-'));
  const project = join(root, 'srv/tailpond');
  const port = await freePort();
  const env = {
    PATH: [BIN, dirname(process.execPath), process.env.PATH].join(':'),
    HOME: join(root, 'home'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TAILPOND_PORT: String(port),
    MACHINE: join(root, 'machine.sock'),
    MACHINE_LOG: join(root, 'service.log'),
    npm_config_update_notifier: 'false',
  };
  const unit = new Unit(root, project, env);
  const systemd = createHttpServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', async () => {
      const answer = await unit.systemctl(text).catch(String);
      response
        .writeHead(answer === null ? 400 : 200)
        .end(answer ?? `not known here: systemctl ${text}\n`);
    });
  });
  try {
    for (const folder of ['home', 'etc', 'backups', 'srv']) mkdirSync(join(root, folder));
    // curl shows no progress, as on a terminal.
    writeFileSync(join(env.HOME, '.curlrc'), 'silent\nshow-error\n');
    install(project);
    await new Promise<void>((listening) => systemd.listen(env.MACHINE, listening));
    await unit.start();
    return await action({
      async run(commands) {
        const mapped = commands
          .replaceAll(PLACES, `${root}/`)
          .replaceAll(/\b4000\b/g, String(port));
        const output = await bash(mapped, project, env);
        return output.replaceAll(root, '').replaceAll(new RegExp(`\\b${port}\\b`, 'g'), '4000');
      },
      write(file, text) {
        mkdirSync(dirname(join(project, file)), { recursive: true });
        writeFileSync(join(project, file), text);
      },
    });
  } finally {
    await unit.end('SIGKILL');
    systemd.closeAllConnections();
    systemd.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** The unit of docs/install.md, as far as the docs ask for it: not started again by itself. */
class Unit {
  private child: ChildProcess | null = null;
  private readonly root: string;
  private readonly project: string;
  private readonly env: Readonly<Record<string, string>>;

  constructor(root: string, project: string, env: Readonly<Record<string, string>>) {
    this.root = root;
    this.project = project;
    this.env = env;
  }

  /** What systemctl writes for these arguments; null for arguments that the docs do not use. */
  async systemctl(text: string): Promise<string | null> {
    const [verb, ...rest] = text.replace(/ ?tailpond$/, '').split(' ');
    const options = rest.join(' ');
    if (verb === 'stop' || verb === 'restart') await this.end('SIGTERM');
    if (verb === 'start' || verb === 'restart') await this.start();
    if (verb === 'kill' && options === '-s HUP') this.child?.kill('SIGHUP');
    const { exitCode = 0, pid = 0 } = this.child ?? {};
    const isActive = this.child !== null && exitCode === null;
    if (verb === 'is-active') return `${isActive ? 'active' : exitCode ? 'failed' : 'inactive'}\n`;
    if (options === '-p MainPID --value') return `${isActive ? pid : 0}\n`;
    if (options === '-p ExecMainStatus --value') return `${exitCode ?? 0}\n`;
    return ['start', 'stop', 'restart', 'kill'].includes(verb ?? '') ? '' : null;
  }

  /** Starts the service, and waits until it listens, or has ended. */
  async start(): Promise<void> {
    const log = openSync(this.env.MACHINE_LOG ?? '', 'a');
    const before = readFileSync(this.env.MACHINE_LOG ?? '', 'utf8').length;
    const [command = '', ...args] = [...POWERLESS, process.execPath, 'server/launch.cjs'];
    const child = spawn(command, args, {
      cwd: this.project,
      env: { ...this.env, ...this.settings() },
      stdio: ['ignore', log, log],
    });
    this.child = child;
    await eventually(() => {
      if (child.exitCode !== null) return;
      const said = readFileSync(this.env.MACHINE_LOG ?? '', 'utf8').slice(before);
      if (!said.includes('listening on'))
        throw new Error(`the service does not listen yet: ${said}`);
    });
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** The lines of /etc/tailpond.env. */
  private settings(): Record<string, string> {
    try {
      const lines = readFileSync(join(this.root, 'etc/tailpond.env'), 'utf8').split('\n');
      return Object.fromEntries(lines.filter(Boolean).map((line) => line.split(/=(.*)/s)));
    } catch {
      return {};
    }
  }
}

async function bash(commands: string, cwd: string, env: Record<string, string>): Promise<string> {
  const child = spawn('bash', ['-eo', 'pipefail', '-c', `exec 2>&1\n${commands}`], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A group of its own: what the commands have started ends with them.
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), COMMANDS_MS);
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece) => pieces.push(piece));
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  const text = withoutNpm(Buffer.concat(pieces).toString());
  return code === 0 ? text : `${text.trimEnd()}\nexit code ${code ?? signal}`.trimStart();
}

/** Without the lines in which npm says what it runs. */
function withoutNpm(text: string): string {
  return text.replaceAll(/^\n> .*\n> .*\n\n/gm, '');
}
