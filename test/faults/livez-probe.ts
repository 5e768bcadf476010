import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

// A process of its own, so that what loads the service in a test does not slow this clock down: asks `/livez` every 10 ms
// until stdin ends. Prints a first line when it was answered for the first time, at the end the times as a JSON list of ms. Argument: the service's URL.
const url = `${process.argv[2]}/livez`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const times: number[] = [];
let going = true;
process.stdin.on('end', () => {
  going = false;
});
process.stdin.resume();
while (going) {
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`/livez: ${response.statusCode}`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
  if (times.length === 0) console.log('probing');
  times.push(performance.now() - began);
  await delay(10);
}
agent.destroy();
console.log(JSON.stringify(times));
