// Logs the same entries with one logger: node loggers.mjs <logger> [<setting>]
import { once } from 'node:events';
import { createServer, request } from 'node:http';

const ORDER = { order: 'A-1001', amount: 42.5 };
const USED = { disk: '/data', used: 91 };
const SPECIAL = 'Jörg said "hi"\tto 🎉';
const [logger, setting] = process.argv.slice(2);

function declined() {
  return new Error('card declined');
}

async function ask(server) {
  if (!server.listening) {
    server.listen(8099, '127.0.0.1');
    await once(server, 'listening');
  }
  for (const [path, agent] of [
    ['/', 'curl/8.5.0'],
    ['/missing', 'curl/8.5.0'],
    ['/fail?order=A-1001&q=%22x%22', 'probe/1.0 "quoted"'],
  ]) {
    const asked = request({ port: 8099, path, agent: false, headers: { 'user-agent': agent } });
    const [answer] = await once(asked.end(), 'response');
    await once(answer.resume(), 'end');
  }
  server.close();
}

function answerWith(status, response) {
  response.statusCode = status;
  response.end('ok\n');
}

function statusOf(path) {
  return { '/': 200, '/missing': 404 }[path] ?? 500;
}

const loggers = {
  async pino() {
    const { default: pino } = await import('pino');
    const log =
      setting === 'iso'
        ? pino({
            level: 'trace',
            base: null,
            timestamp: pino.stdTimeFunctions.isoTime,
            formatters: { level: (label) => ({ level: label }) },
          })
        : pino();
    log.info(ORDER, 'order paid');
    log.warn(USED, 'disk almost full');
    log.error({ err: declined() }, 'charge failed');
    log.error(declined());
    log.debug('cache miss');
    log.trace('cache asked');
    log.fatal('out of memory');
    log.info(SPECIAL);
    log.child({ module: 'billing' }).info({ req: { id: 7 } }, 'invoice %s sent', 'I-7');
  },
  async 'pino-http'() {
    const { default: pinoHttp } = await import('pino-http');
    const log = pinoHttp();
    await ask(
      createServer((req, res) => {
        log(req, res);
        req.log.info({ path: req.url }, 'looking up');
        answerWith(statusOf(req.url), res);
      }),
    );
  },
  async winston() {
    const { default: winston } = await import('winston');
    const { combine, timestamp, errors, json, simple, cli, printf } = winston.format;
    const format = {
      json: undefined,
      timestamp: combine(errors({ stack: true }), timestamp(), json()),
      simple: simple(),
      cli: cli(),
      printf: combine(
        errors({ stack: true }),
        timestamp({ format: 'YYYY-MM-DD HH:mm:ss' }),
        printf((i) => `${i.timestamp} [${i.level}]: ${i.stack ?? i.message}`),
      ),
    }[setting];
    const log = winston.createLogger({ format, transports: [new winston.transports.Console()] });
    log.info('order paid', ORDER);
    log.warn('disk almost full', USED);
    log.error('charge failed', declined());
    log.error(declined());
    log.debug('cache miss');
    log.info(SPECIAL);
  },
  async bunyan() {
    const { default: bunyan } = await import('bunyan');
    const log = bunyan.createLogger({ name: 'shop', serializers: bunyan.stdSerializers });
    log.info(ORDER, 'order paid');
    log.warn(USED, 'disk almost full');
    log.error({ err: declined() }, 'charge failed');
    log.error(declined());
    log.debug('cache miss');
    log.fatal('out of memory');
    log.info(SPECIAL);
  },
  async log4js() {
    const { default: log4js } = await import('log4js');
    const layout = setting === 'basic' ? { layout: { type: 'basic' } } : {};
    log4js.configure({
      appenders: { out: { type: 'stdout', ...layout } },
      categories: { default: { appenders: ['out'], level: 'debug' } },
    });
    const log = log4js.getLogger('shop');
    log.info('order paid', ORDER);
    log.warn('disk almost full', USED);
    log.error('charge failed', declined());
    log.debug('cache miss');
    log.fatal('out of memory');
    log.info(SPECIAL);
  },
  async fastify() {
    const { default: fastify } = await import('fastify');
    const app = fastify({ logger: true });
    app.get('/', async (request) => {
      request.log.info(ORDER, 'order paid');
      return 'ok';
    });
    app.get('/fail', async () => {
      throw declined();
    });
    await app.listen({ port: 8099, host: '127.0.0.1' });
    app.log.warn(SPECIAL);
    await ask(app.server);
  },
  async nestjs() {
    await import('reflect-metadata');
    const { ConsoleLogger } = await import('@nestjs/common');
    const log = new ConsoleLogger('Shop', setting === 'json' ? { json: true } : {});
    log.log('order paid');
    log.log(ORDER);
    log.warn('disk almost full');
    log.error('charge failed', declined().stack);
    log.debug('cache miss');
    log.verbose('cache asked');
    log.fatal('out of memory');
    log.log(SPECIAL);
  },
  async morgan() {
    const { default: morgan } = await import('morgan');
    const write = morgan(setting);
    await ask(
      createServer((req, res) => write(req, res, () => answerWith(statusOf(req.url), res))),
    );
  },
  async debug() {
    const { default: debug } = await import('debug');
    const log = debug('shop:orders');
    log('order %s paid', ORDER.order, ORDER);
    log('charge failed', declined());
    log(SPECIAL);
    log('%O', { ...ORDER, lines: ['one two three four five six seven', 'eight nine ten eleven'] });
    debug('shop:cache')('cache miss');
  },
  async roarr() {
    const { Roarr } = await import('roarr');
    const { serializeError } = await import('serialize-error').catch(() => ({
      serializeError: (error) => ({ name: error.name, message: error.message, stack: error.stack }),
    }));
    const log = Roarr.child({ program: 'shop' });
    log.info(ORDER, 'order paid');
    log.warn(USED, 'disk almost full');
    log.error({ error: serializeError(declined()) }, 'charge failed');
    log.debug('cache miss');
    log.trace('cache asked');
    log.fatal('out of memory');
    log.info(SPECIAL);
  },
  async consola() {
    const { consola } = await import('consola');
    consola.info('order paid', ORDER);
    consola.success('order sent');
    consola.warn('disk almost full', USED);
    consola.error('charge failed', declined());
    consola.error(declined());
    consola.debug('cache miss');
    consola.fatal('out of memory');
    consola.withTag('billing').info(SPECIAL);
    consola.box('three lines');
  },
  async tslog() {
    const { Logger } = await import('tslog');
    const log = new Logger({ name: 'shop', type: setting });
    log.info('order paid', ORDER);
    log.warn('disk almost full', USED);
    log.error('charge failed', declined());
    log.debug('cache miss');
    log.silly('cache asked');
    log.fatal('out of memory');
    log.info(SPECIAL);
  },
  console() {
    console.info('order paid', ORDER);
    console.warn('disk almost full', USED);
    console.error('charge failed', declined());
    console.log({
      ...ORDER,
      lines: ['one two three four five six seven', 'eight nine ten eleven'],
    });
    console.log(SPECIAL);
    throw new TypeError('no handler for it');
  },
};

await loggers[logger]();
