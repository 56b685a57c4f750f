import { durationInMs } from '../config/duration.ts';
import type { Range } from '../config/tier.ts';
import { ENTITY_STATUSES, type EntityStatus } from '../model/queue-settings.ts';
import { AdminError } from './admin-error.ts';
import { textOf, type XmlElement } from './xml.ts';

/** How .NET writes its longest duration, which means: without end. */
const ENDLESS = 'P10675199DT2H48M5.4775807S';

/** A duration in milliseconds within its range. */
export function durationField(fields: XmlElement, name: string, range: Range): number {
  const text = textOf(fields, name);
  const milliseconds = text === undefined ? undefined : durationInMs(text);
  if (milliseconds === undefined || milliseconds < range.least || milliseconds > range.most) {
    throw refused(name, range.text, text);
  }
  return milliseconds;
}

/**
 * The time to live of an entity. Clients for .NET and Java ask for one without end where their caller asks for nothing: that
 * is taken for the longest there is.
 */
export function timeToLiveField(fields: XmlElement, range: Range): number {
  const name = 'DefaultMessageTimeToLive';
  const isEndless = durationInMs(textOf(fields, name) ?? '') === Number.POSITIVE_INFINITY;
  return isEndless ? range.most : durationField(fields, name, range);
}

export function integerField(fields: XmlElement, name: string, range: Range): number {
  const text = textOf(fields, name);
  const value = text === undefined || !/^\d+$/.test(text) ? Number.NaN : Number(text);
  if (!(value >= range.least && value <= range.most)) throw refused(name, range.text, text);
  return value;
}

export function flagField(fields: XmlElement, name: string): boolean {
  const text = textOf(fields, name)?.toLowerCase();
  if (text !== 'true' && text !== 'false') throw refused(name, 'true or false', text);
  return text === 'true';
}

export function statusField(fields: XmlElement): EntityStatus {
  const text = textOf(fields, 'Status');
  const status = ENTITY_STATUSES.find((one) => one === text);
  if (status === undefined) throw refused('Status', `one of ${ENTITY_STATUSES.join(', ')}`, text);
  return status;
}

/** The path of an entity, which clients give as a whole URL; `undefined` where there is none. */
export function pathField(fields: XmlElement, name: string): string | undefined {
  const text = textOf(fields, name)
    ?.replace(/^[a-z]+:\/\/[^/]*/i, '')
    .replace(/^\/+|\/+$/g, '');
  return text === undefined || text === '' ? undefined : text;
}

/** A duration as ISO 8601 text. */
export function durationText(milliseconds: number): string {
  if (milliseconds === Number.POSITIVE_INFINITY) return ENDLESS;
  const seconds = (milliseconds / 1000) % 60;
  const [days, hours, minutes] = [86_400_000, 3_600_000, 60_000].map((unit) => Math.floor(milliseconds / unit));
  const parts = [`${(hours ?? 0) % 24}H`, `${(minutes ?? 0) % 60}M`, `${seconds}S`].filter(
    (part) => !part.startsWith('0'),
  );
  const date = days === 0 ? 'P' : `P${days}D`;
  if (parts.length > 0) return `${date}T${parts.join('')}`;
  return days === 0 ? 'PT0S' : date;
}

function refused(name: string, expected: string, got: string | undefined): AdminError {
  return new AdminError(400, `SubCode=40000. ${name} must be ${expected}, got ${got ?? 'nothing'}.`);
}
