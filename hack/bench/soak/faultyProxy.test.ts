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
  const said = async (socket: Socket, text: string, withinMs = 20_000): Promise<string> => {
    socket.write(text);
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(withinMs) });
    return String(answer);
  };

  it('lets everything through until it is told otherwise', async () => {
    const socket = await client();
    assert.equal(await said(socket, 'hello'), 'hello');
    socket.destroy();
  });

  it('breaks what is open and takes new connections', async () => {
    const socket = await client();
    await said(socket, 'hello');
    const broken = once(socket, 'error');
    assert.equal(proxy.cut(), 1);
    assert.equal((await broken)[0].code, 'ECONNRESET');
    const next = await client();
    assert.equal(await said(next, 'again'), 'again');
    next.destroy();
  });

  it('keeps a frozen connection open and silent until it is let go', async () => {
    const socket = await client();
    await said(socket, 'hello');
    const frozen = proxy.freeze();
    await assert.rejects(said(socket, 'are you there', 500), { name: 'AbortError' });
    assert.ok(!socket.closed);
    const next = await client();
    assert.equal(await said(next, 'hello'), 'hello');
    next.destroy();
    const closed = once(socket, 'close');
    frozen[Symbol.dispose]();
    await closed;
  });
});
