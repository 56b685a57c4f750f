import { z } from 'zod';
import type { ProviderAnswer } from '../provider/payment-provider.ts';

/** One message to send, and what the provider answers to the calls that it causes. */
export interface InputMessage {
  readonly messageId: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly applicationProperties: Readonly<Record<string, string | number | boolean>>;
  readonly sessionId: string | undefined;
  readonly timeToLiveInMs: number | undefined;
  readonly provider: readonly ProviderAnswer[];
}

const answerSchema = z.union(
  [
    z.int().min(200).max(599),
    z.strictObject({ status: z.int().min(200).max(599), retryAfter: z.string().exactOptional() }),
    z.literal(['timeout', 'reset']),
  ],
  { error: 'expected a status from 200 to 599, {"status", "retryAfter"}, "timeout" or "reset"' },
);

const lineSchema = z
  .strictObject({
    messageId: z.string().min(1).max(128),
    body: z.unknown().optional(),
    bodyBase64: z.base64().optional(),
    contentType: z.string().optional(),
    applicationProperties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
    sessionId: z.string().min(1).max(128).optional(),
    timeToLiveInMs: z.int().min(1).optional(),
    provider: z.array(answerSchema).min(1).default([200]),
  })
  .refine((line) => 'body' in line !== 'bodyBase64' in line, 'expected one of body and bodyBase64');

/** Every bad line at once, each with its number and the reason. */
class InputError extends Error {
  override readonly name = 'InputError';
}

/**
 * Reads messages from JSON lines; empty lines are skipped. Lines that share a messageId share the first one's provider.
 *
 * @throws InputError that names every bad line
 */
export function parseInput(text: string, file: string): InputMessage[] {
  const problems: string[] = [];
  const messages: InputMessage[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const message = parseLine(line);
    if (typeof message === 'string') problems.push(`${file}:${at + 1}: ${message}`);
    else messages.push(message);
  }
  if (problems.length > 0) throw new InputError(problems.join('\n'));
  if (messages.length === 0)
    throw new InputError(`${file}: expected at least one message, a JSON object a line; got none`);
  return messages;
}

function parseLine(line: string): InputMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `expected a JSON object: ${(error as Error).message}`;
  }
  const read = lineSchema.safeParse(value);
  if (!read.success) {
    return read.error.issues
      .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
      .join('; ');
  }
  const { body, bodyBase64, contentType, sessionId, timeToLiveInMs, ...rest } = read.data;
  const bytes = bodyBase64 === undefined ? Buffer.from(bodyText(body, contentType)) : Buffer.from(bodyBase64, 'base64');
  return { ...rest, body: bytes, contentType, sessionId, timeToLiveInMs };
}

/** A string under a `text/` content type is the text itself; any other value is sent as JSON. */
const bodyText = (body: unknown, contentType: string | undefined): string =>
  typeof body === 'string' && contentType?.startsWith('text/') ? body : JSON.stringify(body);
