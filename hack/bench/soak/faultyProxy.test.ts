import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { FaultyProxy } from './faultyProxy.ts';

describe('the faulty proxy', () => {
  let echo: Server;
  let proxy: FaultyProxy;

  beforeEach(async () => {
    echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await FaultyProxy.start((echo.address() as AddressInfo).port);
  });

  afterEach(async () => {
    await proxy.stop();
    echo.close();
  });

  const client = async (): Promise<Socket> => {
    const socket = connect(proxy.port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const receive = async (socket: Socket, text: string, withinMs = 20_000): Promise<string> => {
    socket.write(text);
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(withinMs) });
    return String(answer);
  };

  it('forwards everything by default', async () => {
    const socket = await client();
    assert.equal(await receive(socket, 'hello'), 'hello');
    socket.destroy();
  });

  it('breaks open connections and accepts new ones', async () => {
    const socket = await client();
    await receive(socket, 'hello');
    const broken = once(socket, 'error');
    assert.equal(proxy.cut(), 1);
    assert.equal((await broken)[0].code, 'ECONNRESET');
    const next = await client();
    assert.equal(await receive(next, 'again'), 'again');
    next.destroy();
  });

  it('keeps a frozen connection open and silent until it is released', async () => {
    const socket = await client();
    await receive(socket, 'hello');
    const frozen = proxy.freeze();
    await assert.rejects(receive(socket, 'are you there', 500), { name: 'AbortError' });
    assert.ok(!socket.closed);
    const next = await client();
    assert.equal(await receive(next, 'hello'), 'hello');
    next.destroy();
    const closed = once(socket, 'close');
    frozen[Symbol.dispose]();
    await closed;
  });

  it('holds responses while it is stalled, and loses none', async () => {
    const socket = await client();
    await receive(socket, 'hello');
    const stalled = proxy.stall();
    await assert.rejects(receive(socket, 'are you there', 500), { name: 'AbortError' });
    const next = await client();
    await assert.rejects(receive(next, 'and you', 500), { name: 'AbortError' });
    const answers = Promise.all([socket, next].map(async (each) => String((await once(each, 'data'))[0])));
    stalled[Symbol.dispose]();
    assert.deepEqual(await answers, ['are you there', 'and you']);
    socket.destroy();
    next.destroy();
  });
});
