import { expect, test } from 'vitest';
import { withOverrides } from '../../../local/host/setting-overrides.ts';

test('app settings go over host.json, whatever the case, and nothing else changes [J3]', () => {
  const hostJson = { version: '2.0', extensions: { serviceBus: { prefetchCount: 0, autoCompleteMessages: true } } };

  const result = withOverrides(hostJson, {
    AzureFunctionsJobHost__Extensions__ServiceBus__PrefetchCount: '4',
    AzureFunctionsJobHost__extensions__serviceBus__autoCompleteMessages: 'False',
    AzureFunctionsJobHost__functionTimeout: '00:01:00',
    OTHER: 'x',
  });

  expect(result).toEqual({
    version: '2.0',
    functionTimeout: '00:01:00',
    extensions: { serviceBus: { prefetchCount: 4, autoCompleteMessages: false } },
  });
});
