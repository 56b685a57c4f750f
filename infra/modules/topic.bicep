metadata name = 'Topic'
metadata description = 'A topic with its subscriptions. Publishers send here; each consumer has a subscription that forwards to its own queue.'

import { subscriptionType, topicType } from 'types.bicep'

@description('Required. Name of the namespace.')
param namespaceName string

@description('Required. Name of the topic.')
param name string

@description('Required. Properties of the topic.')
param properties topicType.properties

@description('Optional. Its subscriptions.')
param subscriptions subscriptionType[] = []

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource topic 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' = {
  parent: namespace
  name: name
  properties: {
    defaultMessageTimeToLive: properties.DefaultMessageTimeToLive
    duplicateDetectionHistoryTimeWindow: properties.RequiresDuplicateDetection
      ? properties.DuplicateDetectionHistoryTimeWindow
      : null
    maxSizeInMegabytes: properties.MaxSizeInMegabytes
    requiresDuplicateDetection: properties.RequiresDuplicateDetection
  }
}

module subscriptionModules 'subscription.bicep' = [
  for subscription in subscriptions: {
    params: {
      namespaceName: namespaceName
      topicName: topic.name
      name: subscription.name
      properties: subscription.properties
      rules: subscription.rules
    }
  }
]

@description('Name of the topic.')
output name string = topic.name

@description('Resource id of the topic.')
output resourceId string = topic.id
