import type { ServerResponse } from 'node:http';
import type { HttpData, InvocationOutcome, TypedData } from '../worker-protocol.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: { readonly value: string };
  readonly path?: { readonly value: string };
  readonly expires?: { readonly value: { readonly seconds?: number } };
  readonly secure?: { readonly value: boolean };
  readonly httpOnly?: { readonly value: boolean };
  readonly maxAge?: { readonly value: number };
  readonly sameSite?: 'none' | 'lax' | 'strict' | 'explicitNone';
}

/** Answers an HTTP request with what the function returned: 500 where it failed, 204 where it returned nothing. */
export function respond(outcome: InvocationOutcome, response: ServerResponse): void {
  if (outcome.kind === 'failed') return void response.writeHead(500).end();
  const http: HttpData | undefined = outcome.response.returnValue?.http;
  if (!http) return void response.writeHead(204).end();
  for (const [name, value] of Object.entries(http.headers ?? {})) response.setHeader(name, value);
  const cookies = (http.cookies ?? []) as readonly Cookie[];
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies.map(serialize));
  response.writeHead(Number(http.statusCode ?? 200)).end(bytesOf(http.body));
}

function bytesOf(body: TypedData | null | undefined): Buffer {
  if (body?.bytes) return Buffer.from(body.bytes);
  return Buffer.from(body?.string ?? body?.json ?? '', 'utf8');
}

function serialize(cookie: Cookie): string {
  const sameSite = { lax: 'Lax', strict: 'Strict', explicitNone: 'None', none: undefined }[cookie.sameSite ?? 'none'];
  const attributes = [
    cookie.domain && `Domain=${cookie.domain.value}`,
    cookie.path && `Path=${cookie.path.value}`,
    cookie.expires?.value.seconds && `Expires=${new Date(cookie.expires.value.seconds * 1000).toUTCString()}`,
    cookie.maxAge && `Max-Age=${cookie.maxAge.value}`,
    cookie.secure?.value && 'Secure',
    cookie.httpOnly?.value && 'HttpOnly',
    sameSite && `SameSite=${sameSite}`,
  ];
  return [`${cookie.name}=${encodeURIComponent(cookie.value)}`, ...attributes.filter(Boolean)].join('; ');
}
