import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findCompiler, runBicep } from '../../infra/checks/compiler.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { project, readText } from './support/built.ts';

const compiler = await findCompiler(process.env, join(project, 'infra', '.bicep'), { mayDownload: false });
const SLOW = 240_000;

/** A value as Bicep writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${literal(each)}`)
    .join(', ')} }`;
}

const PROPERTIES = {
  DeadLetteringOnMessageExpiration: true,
  DefaultMessageTimeToLive: 'PT1H',
  DuplicateDetectionHistoryTimeWindow: 'PT10M',
  ForwardDeadLetteredMessagesTo: '',
  ForwardTo: '',
  LockDuration: 'PT1M',
  MaxDeliveryCount: 10,
  MaxSizeInMegabytes: 1_024,
  RequiresDuplicateDetection: true,
  RequiresSession: false,
};
const checkedQueue = (properties: Partial<typeof PROPERTIES>, tier = 'Standard') =>
  `checkedQueue(${literal({ name: 'q', properties: { ...PROPERTIES, ...properties } })}, '${tier}')`;
const checkedTopic = (properties: Partial<typeof PROPERTIES>) =>
  `checkedTopic(${literal({
    name: 't',
    properties: PROPERTIES,
    subscriptions: [{ name: 's', properties: { ...PROPERTIES, ...properties }, rules: [] }],
  })}, ['q'])`;
const LOST = 'must be true, or expired messages vanish without a trace.';

/** Calls of the guards, and what each complains of. */
const CASES = [
  { call: checkedQueue({}), says: undefined },
  { call: checkedQueue({ LockDuration: 'PT5M', MaxDeliveryCount: 2 }), says: undefined },
  {
    call: checkedQueue({ LockDuration: 'PT5M1S' }),
    says: 'Queue q: LockDuration PT5M1S must be 5 seconds to 5 minutes.',
  },
  { call: checkedQueue({ LockDuration: 'PT4S' }), says: 'Queue q: LockDuration PT4S must be 5 seconds to 5 minutes.' },
  {
    call: checkedQueue({ MaxDeliveryCount: 11 }),
    says: 'Queue q: DuplicateDetectionHistoryTimeWindow PT10M must be at least LockDuration x MaxDeliveryCount (660 s), or a copy that a later delivery sends again counts as new.',
  },
  { call: checkedQueue({ MaxDeliveryCount: 11, RequiresDuplicateDetection: false }), says: undefined },
  {
    call: checkedQueue({ DeadLetteringOnMessageExpiration: false }),
    says: `Queue q: DeadLetteringOnMessageExpiration ${LOST}`,
  },
  {
    call: checkedQueue({ MaxSizeInMegabytes: 81_920 }),
    says: 'Queue q: MaxSizeInMegabytes 81920 must be at most 5120 in Standard.',
  },
  { call: checkedQueue({ MaxSizeInMegabytes: 81_920 }, 'Premium'), says: undefined },
  { call: checkedTopic({ ForwardTo: 'q' }), says: undefined },
  { call: "checkedTier('Premium', 'isolated')", says: undefined },
  {
    call: "checkedTier('Standard', 'isolated')",
    says: 'serviceBusTier Standard has no private endpoints: network "isolated" needs Premium, or take network "public".',
  },
  { call: "checkedName('my-dev')", says: undefined },
  {
    call: "checkedName('my_dev')",
    says: 'environmentName my_dev must have letters, digits and hyphens only: the names of all resources hold it.',
  },
  { call: "checkedSettings({ PAYMENTS_URL: 'x' })", says: undefined },
  {
    call: "checkedSettings({ 'PAYMENTS-URL': 'x' })",
    says: 'Settings PAYMENTS-URL: a name must have letters, digits, periods and underscores only.',
  },
  { call: "checkedTable('ledger2')", says: undefined },
  {
    call: "checkedTable('my-ledger')",
    says: 'ledgerTableName my-ledger must have letters and digits only, a letter first.',
  },
  {
    call: "checkedTable('2ledger')",
    says: 'ledgerTableName 2ledger must have letters and digits only, a letter first.',
  },
  { call: 'checkedRetention(15, 14)', says: undefined },
  {
    call: 'checkedRetention(14, 14)',
    says: 'ledgerRetentionInDays 14 must be more than replayHorizonInDays 14, or a replay could run an effect again.',
  },
  {
    call: checkedTopic({ ForwardTo: 'elsewhere' }),
    says: 'Topic t: a subscription forwards to a queue that local/entities.json does not have.',
  },
  {
    call: checkedTopic({ DeadLetteringOnMessageExpiration: false }),
    says: `Topic t: every subscription must have DeadLetteringOnMessageExpiration ${LOST.replace('must be ', '')}`,
  },
] as const;

const GUARDS = [...readText('infra/guards.bicep').matchAll(/@export\(\)\n@description\(.+\)\nfunc (\w+)\(/g)].map(
  ([, name]) => name,
);

/** Evaluates calls of the guards, all in one run: a template would stop at the first that fails. */
async function complaintsOf(calls: readonly string[]): Promise<(string | undefined)[]> {
  if (compiler.kind === 'absent') throw new Error('no compiler');
  const folder = await aTemporaryFolder('guards');
  try {
    for (const file of ['guards.bicep', 'modules']) {
      await cp(join(project, 'infra', file), join(folder, file), { recursive: true });
    }
    await cp(join(project, 'infra/queries'), join(folder, 'queries'), { recursive: true });
    const parameters = calls.map((call, index) => `param p${index} = ${call}`);
    const lines = ['using none', `import { ${GUARDS.join(', ')} } from 'guards.bicep'`, ...parameters];
    await writeFile(join(folder, 'guards.bicepparam'), lines.join('\n'));
    // It says as well that such functions are for templates; what they say is all that counts here.
    const { output } = runBicep(compiler, ['build-params', 'guards.bicepparam', '--stdout', '--no-restore'], folder);
    return calls.map(
      (_, index) =>
        new RegExp(`Failed to evaluate parameter "p${index}": (.+?)(?: \\[https:.*)?$`, 'm').exec(output)?.[1],
    );
  } finally {
    await removeFolder(folder);
  }
}

it.skipIf(compiler.kind === 'absent')(
  'guards.bicep refuses what would fail or lose messages, and says what was expected',
  {
    timeout: SLOW,
  },
  async () => {
    expect(await complaintsOf(CASES.map(({ call }) => call))).toEqual(CASES.map(({ says }) => says));
  },
);

it('main.bicep asks every guard', () => {
  const main = readText('infra/main.bicep');
  expect(GUARDS.length).toBeGreaterThan(5);
  expect(GUARDS.filter((name) => !main.includes(`${name}(`))).toEqual([]);
});
