// Drives the published client against a running server. Reads what to say as JSON from stdin, writes what came as JSON.
// CommonJS, because only there does the client find the `ws` package on Node 20.
const { default: Cartesia } = require('@cartesia/cartesia-js');
const { readFileSync } = require('node:fs');

const given = JSON.parse(readFileSync(0, 'utf8'));
const options = { baseURL: given.base, maxRetries: 0, timeout: 20_000 };
const client = new Cartesia({ ...options, apiKey: given.key });
const out = {};

setTimeout(() => {
  console.error(`too slow; done so far: ${Object.keys(out)}`);
  process.exit(1);
}, 45_000).unref();

async function main() {
  out.voices = [];
  for await (const voice of client.voices.list({ limit: 2 })) {
    out.voices.push(voice.id);
    if (out.voices.length > 1000) throw new Error('the pages never end');
  }
  const voice = out.voices[0];
  const pcm = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24000 };
  const common = { model_id: 'sonic-3', voice, output_format: pcm, add_timestamps: true, timeout: 20_000 };

  const ws = await client.tts.websocket();
  await ws.connect();
  const socket = ws.socket;
  const errors = [];
  ws.on('error', (error) => errors.push(error.error));

  const strip = ({ audio, ...event }) => event; // the decoded copy that the client adds
  async function all(context) {
    const events = [];
    for await (const event of context.receive()) events.push(strip(event));
    return events;
  }
  async function speak(contextId, pieces, extra = {}) {
    const context = ws.context({ ...common, contextId, ...extra });
    const listening = all(context);
    for (const transcript of pieces) await context.push({ transcript });
    await context.no_more_inputs();
    return listening;
  }

  out.answer = await speak('answer', given.tokens, {
    output_format: { container: 'raw', encoding: 'pcm_f32le', sample_rate: 44100 },
  });

  [out.left, out.right] = await Promise.all([speak('left', given.tokens), speak('right', [given.short])]);

  const flushed = ws.context({ ...common, contextId: 'flushed' });
  await flushed.push({ transcript: `${given.short} `, flush: true });
  await flushed.push({ transcript: given.short });
  await flushed.no_more_inputs();
  out.flushed = await all(flushed);

  const cancelled = ws.context({ ...common, contextId: 'cancelled' });
  await cancelled.push({ transcript: given.long });
  for await (const event of cancelled.receive()) if (event.type === 'chunk') break;
  const wire = [];
  ws.on('event', (event) => wire.push({ type: event.type, context_id: event.context_id }));
  await cancelled.cancel();
  out.after = await speak('after', [given.short]);
  await speak('later', [given.short]);
  out.wire = wire;

  try {
    await speak('faulty', [given.short], { voice: 'no-such-voice' });
  } catch (error) {
    out.error = { message: error.message, event: errors.at(-1) };
  }
  out.recovered = await speak('recovered', [given.short]);
  out.sockets = ws.socket === socket ? 1 : 2;
  ws.close();

  const wav = await client.tts.generate({
    model_id: 'sonic-3',
    transcript: given.answer,
    voice: { id: voice },
    output_format: { container: 'wav', encoding: 'pcm_s16le', sample_rate: 44100 },
  });
  out.wav = Buffer.from(await wav.arrayBuffer()).toString('base64');

  out.sse = [];
  const events = await client.tts.generateSSE({
    model_id: 'sonic-3',
    transcript: given.answer,
    voice,
    output_format: { ...pcm, sample_rate: 16000 },
    add_timestamps: true,
  });
  for await (const event of events) out.sse.push(event);

  const status = (promise) => promise.then(() => 200, (error) => error.status);
  out.notFound = await status(client.voices.get('no-such-voice'));
  out.wrongKey = await status(new Cartesia({ ...options, apiKey: 'wrong' }).voices.get(voice));

  const { token } = await client.accessToken.create({ expires_in: 60, grants: { tts: true } });
  const guest = new Cartesia({ ...options, token });
  out.tokenMayNotList = await status(guest.voices.get(voice));
  const speech = await guest.tts.generate({ model_id: 'sonic-3', transcript: given.short, voice, output_format: pcm });
  out.byToken = Buffer.from(await speech.arrayBuffer()).toString('base64');

  process.stdout.write(JSON.stringify(out));
}

main();
