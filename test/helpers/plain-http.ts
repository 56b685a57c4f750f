import type { ServiceBusAdministrationClient } from '@azure/service-bus';

/**
 * The client always asks for HTTPS, whatever the connection string says, and the management API of the emulator speaks
 * HTTP: a policy in its pipeline, which is how the SDK lets a caller say so, changes the scheme.
 */
export function speakPlainHttp(client: ServiceBusAdministrationClient): ServiceBusAdministrationClient {
  client.pipeline.addPolicy({
    name: 'plainHttp',
    sendRequest: (request, next) => {
      request.url = request.url.replace(/^https:/, 'http:');
      request.allowInsecureConnection = true;
      return next(request);
    },
  });
  return client;
}
