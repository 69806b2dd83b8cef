// Drives the published client's listening half against a running server. Reads the speech (base64 of 16-bit samples) as
// JSON from stdin, writes what came as JSON.
const { default: Cartesia, toFile } = require('@cartesia/cartesia-js');
const { readFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

const given = JSON.parse(readFileSync(0, 'utf8'));
const client = new Cartesia({ baseURL: given.base, apiKey: given.key, maxRetries: 0, timeout: 20_000 });
const speech = Buffer.from(given.speech, 'base64');
const query = { model: 'ink-2', encoding: 'pcm_s16le', sample_rate: given.rate };
const CHUNK_BYTES = 3200;
const out = {};

setTimeout(() => {
  console.error(`too slow; done so far: ${Object.keys(out)}`);
  process.exit(1);
}, 45_000).unref();

async function hear(socket, paceMs, finish) {
  const messages = [];
  const listening = (async () => {
    for await (const event of socket.stream()) {
      if (event.type === 'message') messages.push(event.message);
      if (event.type === 'error') throw event.error;
    }
  })();
  for (let at = 0; at < speech.length; at += CHUNK_BYTES) {
    socket.sendRaw(speech.subarray(at, at + CHUNK_BYTES));
    await sleep(paceMs);
  }
  finish(socket);
  await listening; // ends when the server closes
  return messages;
}

async function main() {
  out.finalize = await hear(client.stt.manualFinalize.websocket(query), 0, (socket) => {
    socket.send('finalize');
    socket.send('close');
  });
  out.turns = await hear(client.stt.autoFinalize.websocket({ ...query, keyterm: ['Sunday', 'two people'] }), 33, (socket) =>
    socket.send({ type: 'close' }),
  );
  out.batch = await client.stt.transcribe({
    file: await toFile(Buffer.from(given.wav, 'base64'), 'speech.wav'),
    model: 'ink-whisper',
    language: 'en',
    timestamp_granularities: ['word'],
  });
  process.stdout.write(JSON.stringify(out));
}

main();
