import { expect, test } from 'vitest';
import { embeddedBroker, remoteTarget } from './broker/target.ts';
import { CASES, describeBroker } from './broker.contract.ts';

const connectionString = process.env['SERVICEBUS_CONNECTION_STRING'];

describeBroker(connectionString === undefined ? embeddedBroker : remoteTarget(connectionString));

test('the suite has at least 80 cases, each with a name of its own', () => {
  const names = Object.values(CASES).flatMap((cases) => cases.map(({ name }) => name));
  expect(names.length).toBeGreaterThanOrEqual(80);
  expect(new Set(names).size).toBe(names.length);
});
