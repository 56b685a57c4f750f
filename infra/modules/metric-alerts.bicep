metadata name = 'Metric Alerts'
metadata description = 'Alerts on what the namespace measures by itself: they work also where the app does not.'

import { queueType, serviceBusTierType, topicType } from 'types.bicep'

@export()
@description('From where on an alert fires.')
type metricThresholdsType = {
  @description('Optional. Dead letters of one queue or topic. 0 unless given: the first one counts.')
  @minValue(0)
  deadLetters: int?

  @description('Optional. Copies of one queue that wait for their time. 1,000 unless given.')
  @minValue(1)
  scheduledMessages: int?

  @description('Optional. Messages of one queue that could run now. 1,000 unless given.')
  @minValue(1)
  activeMessages: int?

  @description('Optional. Requests throttled in 5 minutes. 0 unless given.')
  @minValue(0)
  throttledRequests: int?

  @description('Optional. Errors of the service in 5 minutes. 5 unless given: single ones are retried by the SDK.')
  @minValue(0)
  serverErrors: int?

  @description('Optional. Percent of the size quota of a queue or topic. 80 unless given.')
  @minValue(1)
  @maxValue(99)
  sizeInPercent: int?

  @description('Optional. Percent of CPU or memory of a Premium namespace. 80 unless given.')
  @minValue(1)
  @maxValue(99)
  premiumUsageInPercent: int?
}

@description('Required. What the names of the alerts begin with.')
param namePrefix string

@description('Optional. Tags.')
param tags object = {}

@description('Required. Name of the namespace.')
param serviceBusNamespaceName string

@description('Required. Its tier; Standard does not measure CPU and memory.')
param tier serviceBusTierType

@description('Required. The work queues.')
param queues queueType[]

@description('Optional. The topics.')
param topics topicType[] = []

@description('Required. Action group.')
param actionGroupResourceId string

@description('Optional. From where on they fire.')
param thresholds metricThresholdsType = {}

@description('Optional. Whether they are on.')
param enabled bool = true

var sizePercent = thresholds.?sizeInPercent ?? 80
var bytesPerMegabyte = 1048576

var queueRules = flatten(map(queues, queue => [
  {
    name: 'dead-letters-${queue.name}'
    entity: queue.name
    metric: 'DeadletteredMessages'
    aggregation: 'Maximum'
    threshold: thresholds.?deadLetters ?? 0
    severity: 2
    description: 'Queue ${queue.name} has dead letters. Look at their reasons in the workbook or with the tools in cli/; fix the cause, then replay them. An event in the dead-letter queue is not done and does not expire.'
  }
  {
    name: 'scheduled-${queue.name}'
    entity: queue.name
    metric: 'ScheduledMessages'
    aggregation: 'Average'
    threshold: thresholds.?scheduledMessages ?? 1000
    severity: 2
    description: 'Many delayed copies wait on queue ${queue.name}: attempts keep failing for a passing reason. Look at what the handlers call. If that is down for long, close the queue to receivers (docs/runbook.md): copies that come due then wait as active messages.'
  }
  {
    name: 'active-${queue.name}'
    entity: queue.name
    metric: 'ActiveMessages'
    aggregation: 'Average'
    threshold: thresholds.?activeMessages ?? 1000
    severity: 2
    description: 'Messages pile up on queue ${queue.name}. Look whether the app runs (its log stream, the silence alert), whether the handlers have become slow, and whether it is at maximumInstanceCount.'
  }
  {
    name: 'size-${queue.name}'
    entity: queue.name
    metric: 'Size'
    aggregation: 'Average'
    threshold: queue.properties.MaxSizeInMegabytes * bytesPerMegabyte / 100 * sizePercent
    severity: 1
    description: 'Queue ${queue.name} is at ${sizePercent}% of its quota; when it is full, producers and our own copies are refused. Dead letters count: work them first. Then raise MaxSizeInMegabytes in infra/overrides.json.'
  }
]))

var topicRules = flatten(map(topics, topic => [
  {
    name: 'dead-letters-${topic.name}'
    entity: topic.name
    metric: 'DeadletteredMessages'
    aggregation: 'Maximum'
    threshold: thresholds.?deadLetters ?? 0
    severity: 2
    description: 'A subscription of topic ${topic.name} has dead letters: what could not be forwarded to its queue (full, disabled, missing), or expired before. The app never sees these. Make room in the queue, then send them again. The platform counts all subscriptions of a topic together.'
  }
  {
    name: 'size-${topic.name}'
    entity: topic.name
    metric: 'Size'
    aggregation: 'Average'
    threshold: topic.properties.MaxSizeInMegabytes * bytesPerMegabyte / 100 * sizePercent
    severity: 1
    description: 'Topic ${topic.name} is at ${sizePercent}% of its quota; when it is full, producers are refused. Find the subscription that does not drain, or raise MaxSizeInMegabytes in infra/overrides.json.'
  }
]))

var namespaceRules = [
  {
    name: 'throttled'
    metric: 'ThrottledRequests'
    aggregation: 'Total'
    threshold: thresholds.?throttledRequests ?? 0
    severity: 2
    description: 'The namespace throttles requests. In Standard all tenants share: lower maximumInstanceCount or maxConcurrentCalls, or move to Premium. In Premium add messaging units.'
  }
  {
    name: 'server-errors'
    metric: 'ServerErrors'
    aggregation: 'Total'
    threshold: thresholds.?serverErrors ?? 5
    severity: 2
    description: 'The service itself fails. Look at Azure status and Resource health of the namespace. Nothing is lost: what cannot be settled comes again.'
  }
]

var premiumRules = map(['NamespaceCpuUsage', 'NamespaceMemoryUsage'], metric => {
  name: metric == 'NamespaceCpuUsage' ? 'cpu' : 'memory'
  metric: metric
  aggregation: 'Maximum'
  threshold: thresholds.?premiumUsageInPercent ?? 80
  severity: 2
  description: '${metric == 'NamespaceCpuUsage' ? 'CPU' : 'Memory'} of the namespace is near its limit, after which it throttles. Add messaging units.'
})

var rules = concat(queueRules, topicRules, namespaceRules, tier == 'Premium' ? premiumRules : [])

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: serviceBusNamespaceName
}

resource alerts 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for rule in rules: {
    name: replace('${namePrefix}-${rule.name}', '/', '-')
    location: 'global'
    tags: tags
    properties: {
      description: rule.description
      severity: rule.severity
      enabled: enabled
      autoMitigate: true
      scopes: [namespace.id]
      evaluationFrequency: 'PT1M'
      windowSize: 'PT5M'
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            name: rule.metric
            criterionType: 'StaticThresholdCriterion'
            metricNamespace: 'Microsoft.ServiceBus/namespaces'
            metricName: rule.metric
            operator: 'GreaterThan'
            threshold: rule.threshold
            timeAggregation: rule.aggregation
            dimensions: contains(rule, 'entity')
              ? [{ name: 'EntityName', operator: 'Include', values: [rule.?entity ?? ''] }]
              : []
          }
        ]
      }
      actions: [{ actionGroupId: actionGroupResourceId }]
    }
  }
]

@description('Names of the alerts.')
output names string[] = [for (rule, index) in rules: alerts[index].name]
