/** Where the dashboard of `local/compose.yaml` takes OTLP over HTTP. */
export const DASHBOARD = 'http://localhost:4318';

type Settings = Readonly<Record<string, string | undefined>>;

/** What of a shell's environment says where telemetry goes and how; Core Tools give an app these likewise. */
export const telemetrySettings = (environment: Settings): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && /^(OTEL_|APPLICATIONINSIGHTS_)/.test(entry[0]),
    ),
  );

/** Where an app with these settings sends its telemetry, in words; connection strings are left out of them. */
export function telemetryTarget(settings: Settings): string {
  const targets = [
    ...(settings['OTEL_EXPORTER_OTLP_ENDPOINT'] ? [settings['OTEL_EXPORTER_OTLP_ENDPOINT']] : []),
    ...(settings['APPLICATIONINSIGHTS_CONNECTION_STRING'] ? ['Application Insights'] : []),
  ];
  return targets.length > 0
    ? `${targets.join(' and ')}, besides this log`
    : `this log alone; in the dashboard of local/compose.yaml with OTEL_EXPORTER_OTLP_ENDPOINT=${DASHBOARD}`;
}
