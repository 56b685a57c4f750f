import type { Connection, Receiver, Sender } from 'rhea';
import { parseAddress } from './address.ts';
import { entityNotFound } from './conditions.ts';

/** Detaches the links of an entity that is no more, its management links included; their clients learn why. */
export function detachRemoved(connection: Connection, path: string): void {
  const detach = (link: Sender | Receiver, text: string) => {
    const address = parseAddress(text);
    if (address.kind === 'cbs' || address.path.toLowerCase() !== path.toLowerCase()) return;
    if (link.is_open()) link.close(entityNotFound(text));
  };
  connection.each_sender((sender: Sender) => detach(sender, sender.source?.address ?? ''));
  connection.each_receiver((receiver: Receiver) => detach(receiver, receiver.target?.address ?? ''));
}
