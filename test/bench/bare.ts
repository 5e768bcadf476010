// A bare Express handler that sends the bytes of argv[3] as JSON on the port of argv[2]: what an answer costs that needs no work.
import express from 'express';

const [port, body] = process.argv.slice(2);
const answer = Buffer.from(body ?? '');
express()
  .get('/', (_request, response) => {
    response.type('json').send(answer);
  })
  .listen(Number(port), '127.0.0.1');
