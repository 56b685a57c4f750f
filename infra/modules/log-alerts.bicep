metadata name = 'Log Alerts'
metadata description = 'Alerts on what the app reports. Their queries are those of the workbook.'

@export()
@description('From where on an alert fires.')
type logThresholdsType = {
  @description('Optional. Percent of attempts in 10 minutes that want another. 20 unless given.')
  @minValue(1)
  @maxValue(100)
  retryRatioInPercent: int?

  @description('Optional. Events in 15 minutes given up for a passing reason. 0 unless given: the first one counts.')
  @minValue(0)
  attemptsExhausted: int?

  @description('Optional. Deliveries in 15 minutes that lost their lock. 5 unless given.')
  @minValue(0)
  locksLost: int?

  @description('Optional. 95th percentile of the processing of a delivery, in seconds. 20 unless given; keep it below the handlerTimeoutInMs of the policies.')
  @minValue(1)
  @maxValue(300)
  slowHandlerInSeconds: int?

  @description('Optional. How long nothing may come. PT6H unless given.')
  silence: ('PT1H' | 'PT2H' | 'PT3H' | 'PT4H' | 'PT5H' | 'PT6H' | 'P1D')?
}

@description('Required. What the names of the alerts begin with.')
param namePrefix string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Required. Application Insights that they ask.')
param applicationInsightsResourceId string

@description('Required. Action group.')
param actionGroupResourceId string

@description('Optional. From where on they fire.')
param thresholds logThresholdsType = {}

@description('Optional. Whether they are on.')
param enabled bool = true

@description('Optional. Whether silence is an alarm; not where nights are quiet.')
param silenceIsAnAlarm bool = true

var rules = concat(
  [
    {
      name: 'retry-ratio'
      query: loadTextContent('../queries/retry-ratio.kql')
      measure: 'RetryRatio'
      aggregation: 'Average'
      operator: 'GreaterThan'
      // The threshold of a log alert takes fractions, Bicep numbers do not.
      threshold: json('${(thresholds.?retryRatioInPercent ?? 20) / 100}.${padLeft((thresholds.?retryRatioInPercent ?? 20) % 100, 2, '0')}')
      dimensions: ['Consumer']
      frequency: 'PT5M'
      window: 'PT10M'
      severity: 2
      description: 'More attempts than usual fail for a passing reason: the early sign, minutes before the first dead letters. Look at what the handlers call. Nothing is lost yet; if it will last longer than the retry window, close the queue to receivers (docs/runbook.md).'
    }
    {
      name: 'attempts-exhausted'
      query: loadTextContent('../queries/attempts-exhausted.kql')
      measure: 'DeadLetters'
      aggregation: 'Total'
      operator: 'GreaterThan'
      threshold: json(string(thresholds.?attemptsExhausted ?? 0))
      dimensions: ['Consumer', 'Reason']
      frequency: 'PT5M'
      window: 'PT15M'
      severity: 1
      description: 'Events have been given up though they are well: the other side was down for longer than the policy waits. Replay them when it is back; if this repeats, give the policy more attempts or a longer window.'
    }
    {
      name: 'locks-lost'
      query: loadTextContent('../queries/locks-lost.kql')
      measure: 'LocksLost'
      aggregation: 'Total'
      operator: 'GreaterThan'
      threshold: json(string(thresholds.?locksLost ?? 5))
      dimensions: ['Consumer']
      frequency: 'PT5M'
      window: 'PT15M'
      severity: 2
      description: 'Locks end before messages are settled, so work is done for nothing. Look for handlers that block the event loop, a starved instance (raise instanceMemoryInMb or lower maxConcurrentCalls), or a network that breaks.'
    }
    {
      name: 'slow-handler'
      query: loadTextContent('../queries/processing-duration.kql')
      measure: 'P95'
      aggregation: 'Average'
      operator: 'GreaterThan'
      threshold: json(string(thresholds.?slowHandlerInSeconds ?? 20))
      dimensions: ['Consumer']
      frequency: 'PT5M'
      window: 'PT15M'
      severity: 3
      description: 'Handlers come near their timeout; past it every attempt fails and is redelivered. Look at what they call, or raise handlerTimeoutInMs within the lock.'
    }
  ],
  silenceIsAnAlarm
    ? [
        {
          name: 'silence'
          query: loadTextContent('../queries/silence.kql')
          measure: 'Deliveries'
          aggregation: 'Total'
          operator: 'LessThan'
          threshold: json('1')
          dimensions: []
          frequency: 'PT1H'
          window: thresholds.?silence ?? 'PT6H'
          severity: 2
          description: 'No delivery was reported for long. If messages wait, the app does not run or cannot connect: look at its log stream and its settings. If none wait, the producers are silent. If both are well, telemetry is broken.'
        }
      ]
    : []
)

resource alerts 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for rule in rules: {
    name: '${namePrefix}-${rule.name}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: '${namePrefix}-${rule.name}'
      description: rule.description
      severity: rule.severity
      enabled: enabled
      autoMitigate: true
      scopes: [applicationInsightsResourceId]
      targetResourceTypes: ['microsoft.insights/components']
      evaluationFrequency: rule.frequency
      windowSize: rule.window
      criteria: {
        allOf: [
          {
            query: rule.query
            metricMeasureColumn: rule.measure
            timeAggregation: rule.aggregation
            operator: rule.operator
            threshold: rule.threshold
            dimensions: map(rule.dimensions, dimension => { name: dimension, operator: 'Include', values: ['*'] })
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      actions: { actionGroups: [actionGroupResourceId] }
    }
  }
]

@description('Names of the alerts.')
output names string[] = [for (rule, index) in rules: alerts[index].name]
