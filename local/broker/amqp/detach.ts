import type { Connection, Receiver, Sender } from 'rhea';
import type { Entity } from '../model/namespace.ts';
import { givesMessages, takesSends } from '../model/queue-settings.ts';
import { parseAddress } from './address.ts';
import { entityDisabled, entityNotFound } from './conditions.ts';

/** Detaches the links of an entity that is no more, its management links included; their clients learn why. */
export function detachRemoved(connection: Connection, path: string): void {
  eachLink(connection, path, (link, text) => link.close(entityNotFound(text)));
}

/** Detaches the links of an entity that its status does not permit any more. */
export function detachDisabled(connection: Connection, { path, settings }: Entity): void {
  const { status = 'Active' } = settings;
  eachLink(connection, path, (link, text) => {
    if (parseAddress(text).kind !== 'entity') return;
    if (link.is_sender() ? !givesMessages(status) : !takesSends(status)) link.close(entityDisabled(text));
  });
}

function eachLink(connection: Connection, path: string, visit: (link: Sender | Receiver, text: string) => void): void {
  const look = (link: Sender | Receiver, text: string) => {
    const address = parseAddress(text);
    if (address.kind === 'cbs' || address.path.toLowerCase() !== path.toLowerCase()) return;
    if (link.is_open()) visit(link, text);
  };
  connection.each_sender((sender: Sender) => look(sender, sender.source?.address ?? ''));
  connection.each_receiver((receiver: Receiver) => look(receiver, receiver.target?.address ?? ''));
}
