metadata name = 'Service Bus'
metadata description = 'Namespace, work queues, topics. Messages come to a work queue directly, or from a topic by a subscription that forwards.'

import { lockType, diagnosticSettingType, networkKindType, queueType, serviceBusTierType, topicType } from 'types.bicep'

@description('Required. Name of the namespace.')
@minLength(6)
@maxLength(50)
param name string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Lock.')
param lock lockType?

@description('Optional. Where logs and metrics of the namespace go.')
param diagnosticSettings diagnosticSettingType?

@description('Optional. Tier. Premium is needed for network isolation only.')
param tier serviceBusTierType = 'Standard'

@description('Optional. Messaging units; Premium only.')
@allowed([1, 2, 4, 8, 16])
param messagingUnits int = 1

@description('Optional. `isolated` closes the public endpoint; Premium only.')
param network networkKindType = 'public'

@description('Required. The work queues.')
param queues queueType[]

@description('Optional. The topics.')
param topics topicType[] = []

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: tier == 'Premium'
    ? { name: 'Premium', tier: 'Premium', capacity: messagingUnits }
    : { name: 'Standard', tier: 'Standard' }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: network == 'isolated' ? 'Disabled' : 'Enabled'
  }
}

resource workQueues 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for queue in queues: {
    parent: namespace
    name: queue.name
    properties: {
      deadLetteringOnMessageExpiration: queue.properties.DeadLetteringOnMessageExpiration
      defaultMessageTimeToLive: queue.properties.DefaultMessageTimeToLive
      duplicateDetectionHistoryTimeWindow: queue.properties.RequiresDuplicateDetection
        ? queue.properties.DuplicateDetectionHistoryTimeWindow
        : null
      forwardDeadLetteredMessagesTo: empty(queue.properties.ForwardDeadLetteredMessagesTo)
        ? null
        : queue.properties.ForwardDeadLetteredMessagesTo
      forwardTo: empty(queue.properties.ForwardTo) ? null : queue.properties.ForwardTo
      lockDuration: queue.properties.LockDuration
      maxDeliveryCount: queue.properties.MaxDeliveryCount
      maxSizeInMegabytes: queue.properties.MaxSizeInMegabytes
      requiresDuplicateDetection: queue.properties.RequiresDuplicateDetection
      requiresSession: queue.properties.RequiresSession
    }
  }
]

module topicModules 'topic.bicep' = [
  for topic in topics: {
    params: {
      namespaceName: namespace.name
      name: topic.name
      properties: topic.properties
      subscriptions: topic.subscriptions
    }
    // A subscription cannot forward to a queue that is not there yet.
    dependsOn: [workQueues]
  }
]

resource namespaceLock 'Microsoft.Authorization/locks@2020-05-01' = if ((lock.?kind ?? (empty(lock)
  ? 'None'
  : 'CanNotDelete')) != 'None') {
  name: 'lock-${name}'
  scope: namespace
  properties: {
    level: lock.?kind ?? 'CanNotDelete'
    notes: lock.?notes ?? 'Messages and dead letters are gone with it.'
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(diagnosticSettings)) {
  name: 'diagnostics'
  scope: namespace
  properties: {
    workspaceId: diagnosticSettings!.workspaceResourceId
    logs: map(diagnosticSettings.?logCategoryGroups ?? ['allLogs'], group => { categoryGroup: group, enabled: true })
    metrics: (diagnosticSettings.?metrics ?? false) ? [{ category: 'AllMetrics', enabled: true }] : []
  }
}

@description('Name of the namespace.')
output name string = namespace.name

@description('Resource id of the namespace.')
output resourceId string = namespace.id
