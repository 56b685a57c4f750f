metadata name = 'Roles'
metadata description = 'What the app may do, and nothing more: on its own queues, its own table, its own account. Data Owner of Service Bus is given to nobody.'

import { principalType, topicType } from 'types.bicep'

@description('Required. Identity that the app works under.')
param app principalType

@description('Optional. Who works the dead-letter queues: may receive from and send to the work queues, and receive from the subscriptions of topics.')
param operators principalType[] = []

@description('Required. Name of the Service Bus namespace.')
param serviceBusNamespaceName string

@description('Required. Names of the work queues.')
param queueNames string[]

@description('Optional. The topics with their subscriptions.')
param topics topicType[] = []

@description('Required. Name of the storage account.')
param storageAccountName string

@description('Required. Table of the ledger.')
param ledgerTableName string

@description('Required. Name of the Application Insights.')
param applicationInsightsName string

@description('Optional. Whether to define and assign the custom role that lets the scaler read message counts. Needs the right to write role definitions; without it the scaler peeks, and guesses.')
param scaleByMessageCounts bool = true

var receiver = '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
var sender = '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
var blobDataOwner = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
var tableDataContributor = '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: serviceBusNamespaceName
}

resource storage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName

  resource tables 'tableServices@2024-01-01' existing = {
    name: 'default'

    resource ledger 'tables@2024-01-01' existing = {
      name: ledgerTableName
    }
  }
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

module queueRoles 'queue-roles.bicep' = [
  for queueName in queueNames: {
    params: {
      namespaceName: namespace.name
      queueName: queueName
      principals: concat([app], operators)
      // The host receives, and settles through the same link; the app sends the delayed copies.
      roleIds: [receiver, sender]
    }
  }
]

// What could not be forwarded lies in the subscription's own dead-letter queue, which the app never sees.
var subscriptions = flatten(map(
  topics,
  topic => map(topic.subscriptions, subscription => { topicName: topic.name, name: subscription.name })
))

module subscriptionRoles 'subscription-roles.bicep' = [
  for subscription in empty(operators) ? [] : subscriptions: {
    params: {
      namespaceName: namespace.name
      topicName: subscription.topicName
      subscriptionName: subscription.name
      principals: operators
      roleId: receiver
    }
  }
]

// The platform reads its package and keeps its own locks and keys here; Contributor does not do for the host.
resource packages 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(storage.id, app.principalId, blobDataOwner)
  scope: storage
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataOwner)
    principalId: app.principalId
    principalType: app.principalType
    description: 'The host: package, locks of timers, keys.'
  }
}

resource ledger 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(storage::tables::ledger.id, app.principalId, tableDataContributor)
  scope: storage::tables::ledger
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', tableDataContributor)
    principalId: app.principalId
    principalType: app.principalType
    description: 'The ledger: claims, records, the sweep.'
  }
}

resource telemetry 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(applicationInsights.id, app.principalId, metricsPublisher)
  scope: applicationInsights
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
    principalId: app.principalId
    principalType: app.principalType
    description: 'Host and worker: telemetry without a key.'
  }
}

// Message counts otherwise need Data Owner, which may also send, receive and change every entity.
resource countReader 'Microsoft.Authorization/roleDefinitions@2022-04-01' = if (scaleByMessageCounts) {
  name: guid(resourceGroup().id, 'service-bus-count-reader')
  properties: {
    roleName: 'Service Bus Count Reader (${serviceBusNamespaceName})'
    description: 'Reads entities and their message counts; may not see a message.'
    type: 'customRole'
    permissions: [
      { actions: ['Microsoft.ServiceBus/namespaces/*/read'], notActions: [], dataActions: [], notDataActions: [] }
    ]
    assignableScopes: [resourceGroup().id]
  }
}

resource counts 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (scaleByMessageCounts) {
  name: guid(namespace.id, app.principalId, 'service-bus-count-reader')
  scope: namespace
  properties: {
    roleDefinitionId: countReader.id
    principalId: app.principalId
    principalType: app.principalType
    description: 'The scaler: how many messages wait.'
  }
}
