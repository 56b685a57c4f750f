import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { parseRoute } from '../../../local/host/http/route.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

describe('HTTP triggers', () => {
  const log = aLog();
  const nothingIsLeft = takeStock();
  let host: Host | undefined;

  afterEach(async () => {
    await host?.stop();
    host = undefined;
    await nothingIsLeft();
  });

  async function start(httpPort = 0): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
    host = await startHost({ appDirectory: fixtureApp('web'), settings: {}, onLog: log.onLog, httpPort });
    const base = `http://127.0.0.1:${host.httpPort}/api`;
    return (path, init) => fetch(`${base}/${path}`, init);
  }

  test('get parameters, query and the trace of the caller', async () => {
    const call = await start();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    const response = await call('orders/7/items?page=2', { headers: { traceparent } });

    expect(await response.json()).toEqual({
      params: { id: '7', tab: 'items' },
      query: { page: '2' },
      trace: '00-0af7651916cd43dd8448eb211c80319c',
    });
    expect(response.headers.get('set-cookie')).toBe('seen=yes; HttpOnly; SameSite=Lax');
  });

  test('give status, headers and body, whatever the bytes', async () => {
    const call = await start();

    const response = await call('echo', { method: 'POST', headers: { 'Content-Type': 'text/x' }, body: 'größer' });

    expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([201, 'text/x', 'größer']);
  });

  test.each([
    ['nothing', 'GET', 204],
    ['failing', 'GET', 500],
    ['unknown', 'GET', 404],
    ['orders/seven', 'GET', 404],
    ['orders/7', 'POST', 404],
  ])('answer %s %s with %i', async (path, method, status) => {
    const call = await start();

    expect((await call(path, { method })).status).toBe(status);
  });

  test('are answered before a stop', async () => {
    const call = await start();
    const answered = call('slow');
    await expect
      .poll(() => log.messages().some((message) => message.startsWith("Executing 'Functions.slow'")))
      .toBe(true);

    await host?.stop();

    expect(await (await answered).text()).toBe('at last');
  });

  test('need a port that is free', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;

    await expect(start(port)).rejects.toThrow(`The host cannot serve HTTP on 127.0.0.1:${port} (EADDRINUSE).`);

    other.close();
  });
});

describe('a route', () => {
  test.each([
    ['api/orders', '/api/orders', {}],
    ['api/orders', '/API/Orders/', {}],
    ['api/orders', '/api/orders/7', undefined],
    ['api/{id}', '/api/a%20b', { id: 'a b' }],
    ['api/{id:int}', '/api/x', undefined],
    ['api/{id:guid}', '/api/0af76519-16cd-43dd-8448-eb211c80319c', { id: '0af76519-16cd-43dd-8448-eb211c80319c' }],
    ['api/{id?}', '/api', {}],
    ['{*rest}', '/a/b', { rest: 'a/b' }],
    ['api/a.b', '/api/aXb', undefined],
  ])('%s, for the path %s', (template, path, expected) => {
    expect(parseRoute(template).match(path)).toEqual(expected);
  });
});
