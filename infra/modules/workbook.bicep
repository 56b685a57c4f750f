metadata name = 'Workbook'
metadata description = 'What to look at when an alert has fired, from the whole to the single event.'

@description('Required. What the portal calls it.')
@minLength(1)
@maxLength(120)
param displayName string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Required. Application Insights that it asks.')
param applicationInsightsResourceId string

@description('Required. Namespace whose depths it shows.')
param serviceBusNamespaceResourceId string

var queries = [
  {
    name: 'outcomes'
    title: 'Outcomes of deliveries'
    query: loadTextContent('../queries/outcomes.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'retry-ratio'
    title: 'Share of attempts redelivered, and dead-lettered'
    query: loadTextContent('../queries/retry-ratio.kql')
    visualization: 'linechart'
    columns: ['RetryRatio', 'DeadLetterRatio']
  }
  {
    name: 'retries-by-attempt'
    title: 'Delayed copies by attempt'
    query: loadTextContent('../queries/retries-by-attempt.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'delays'
    title: 'Planned and actual delay, in seconds'
    query: loadTextContent('../queries/delays.kql')
    visualization: 'linechart'
    columns: []
  }
  {
    name: 'reasons'
    title: 'Dead letters by reason'
    query: loadTextContent('../queries/reasons.kql')
    visualization: 'table'
    columns: []
  }
  {
    name: 'attempts-exhausted'
    title: 'Given up for a passing reason: can be replayed'
    query: loadTextContent('../queries/attempts-exhausted.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'processing-duration'
    title: 'Processing of a delivery with its handler, p50, p95, p99, in seconds'
    query: loadTextContent('../queries/processing-duration.kql')
    visualization: 'linechart'
    columns: ['P50', 'P95', 'P99']
  }
  {
    name: 'locks-lost'
    title: 'Locks lost'
    query: loadTextContent('../queries/locks-lost.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'duplicates'
    title: 'Duplicates suppressed'
    query: loadTextContent('../queries/duplicates.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'deferrals'
    title: 'Deferrals by cause'
    query: loadTextContent('../queries/deferrals.kql')
    visualization: 'barchart'
    columns: []
  }
  {
    name: 'slowest-chains'
    title: 'Slowest events, with their whole transaction'
    query: loadTextContent('../queries/slowest-chains.kql')
    visualization: 'table'
    columns: []
  }
]

var depths = {
  ActiveMessages: 'Active messages'
  ScheduledMessages: 'Scheduled messages: delayed copies'
  DeadletteredMessages: 'Dead letters'
}

var timeRange = {
  type: 9
  name: 'parameters'
  content: {
    version: 'KqlParameterItem/1.0'
    style: 'pills'
    parameters: [
      {
        id: guid(displayName, 'TimeRange')
        version: 'KqlParameterItem/1.0'
        name: 'TimeRange'
        label: 'Time range'
        type: 4
        isRequired: true
        value: { durationMs: 14400000 }
        typeSettings: {
          selectableValues: map([1, 4, 12, 24, 72, 168], hours => { durationMs: hours * 3600000 })
          allowCustom: true
        }
      }
    ]
  }
}

var depthItems = map(items(depths), depth => {
  type: 10
  name: depth.key
  customWidth: '33'
  content: {
    chartId: guid(displayName, depth.key)
    version: 'MetricsItem/2.0'
    title: depth.value
    size: 1
    chartType: 2
    resourceType: 'microsoft.servicebus/namespaces'
    metricScope: 0
    resourceIds: [serviceBusNamespaceResourceId]
    timeContextFromParameter: 'TimeRange'
    timeContext: { durationMs: 0 }
    metrics: [
      {
        namespace: 'microsoft.servicebus/namespaces'
        metric: 'microsoft.servicebus/namespaces--${depth.key}'
        aggregation: 4
        splitBy: 'EntityName'
      }
    ]
  }
})

var queryItems = map(queries, each => {
  type: 3
  name: each.name
  customWidth: each.visualization == 'table' ? '100' : '50'
  content: {
    version: 'KqlItem/1.0'
    title: each.title
    query: each.query
    size: 0
    queryType: 0
    resourceType: 'microsoft.insights/components'
    crossComponentResources: [applicationInsightsResourceId]
    timeContextFromParameter: 'TimeRange'
    timeContext: { durationMs: 0 }
    noDataMessage: 'Nothing in this time.'
    visualization: each.visualization
    chartSettings: empty(each.columns) ? {} : { yAxis: each.columns }
    gridSettings: {
      formatters: [
        { columnMatch: '^Transaction$', formatter: 7, formatOptions: { linkTarget: 'Url', linkLabel: 'Open' } }
      ]
      filter: true
    }
  }
})

var introduction = {
  type: 1
  name: 'introduction'
  content: {
    json: '# Redelivery\nFrom the whole to the single event. Depths are measured by the platform, all else is reported by the app. Attempts count from 1 across copies; a deferral uses none.'
  }
}

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(applicationInsightsResourceId, 'redelivery')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: displayName
    category: 'workbook'
    version: '1.0'
    sourceId: applicationInsightsResourceId
    serializedData: string({
      version: 'Notebook/1.0'
      items: concat([introduction, timeRange], depthItems, queryItems)
      fallbackResourceIds: [applicationInsightsResourceId]
      '$schema': 'https://github.com/Microsoft/Application-Insights-Workbooks/blob/master/schema/workbook.json'
    })
  }
}

@description('Name of the workbook.')
output name string = workbook.name

@description('Resource id of the workbook.')
output resourceId string = workbook.id
