import { ManagedIdentityCredential } from '@azure/identity';
import { shutdownAzureMonitor, useAzureMonitor } from '@azure/monitor-opentelemetry';
import { SpanKind } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Environment } from './environment.ts';
import type { Exporters } from './otlp-exporters.ts';

/** `ClientId=...;Authorization=AAD`, as Functions have it: the identity that may write, where keys may not. */
export function readIdentity(authentication: string | undefined): { readonly clientId?: string } | undefined {
  if (!authentication) return undefined;
  const fields = new Map(
    authentication.split(';').map((field): [string, string] => {
      const [name = '', value = ''] = field.split('=', 2);
      return [name.trim().toLowerCase(), value.trim()];
    }),
  );
  if (fields.get('authorization')?.toUpperCase() !== 'AAD') {
    throw new Error(
      `APPLICATIONINSIGHTS_AUTHENTICATION_STRING: expected "Authorization=AAD", with "ClientId=..." for an identity of ` +
        `its own; got ${JSON.stringify(authentication)}`,
    );
  }
  const clientId = fields.get('clientid');
  return clientId ? { clientId } : {};
}

/** The exporter takes the name of a request from this attribute, and leaves a consumer's without one. */
const NAMED: SpanProcessor = {
  onStart(span) {
    if (span.kind === SpanKind.CONSUMER) span.setAttribute('ai.operation.name', span.name);
  },
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

/**
 * Starts the distribution for Application Insights. Every trace is kept: its default of 5 a second would tear chains of
 * attempts apart.
 *
 * @returns what sends the rest and stops it
 */
export function startAzureMonitor(
  connectionString: string,
  environment: Environment,
  others: Partial<Exporters> = {},
): () => Promise<unknown> {
  const identity = readIdentity(environment['APPLICATIONINSIGHTS_AUTHENTICATION_STRING']);
  useAzureMonitor({
    azureMonitorExporterOptions: {
      connectionString,
      ...(identity && {
        credential: identity.clientId
          ? new ManagedIdentityCredential({ clientId: identity.clientId })
          : new ManagedIdentityCredential(),
      }),
    },
    tracesPerSecond: 0,
    samplingRatio: 1,
    // The spans of a delivery are our own; those that the SDK of the service adds would say the same again.
    instrumentationOptions: { azureSdk: { enabled: false } },
    ...others,
    spanProcessors: [NAMED, ...(others.spanProcessors ?? [])],
  });
  return shutdownAzureMonitor;
}
