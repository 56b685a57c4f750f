metadata name = 'Subscription'
metadata description = 'A subscription with its rules.'

import { subscriptionType } from 'types.bicep'

@description('Required. Name of the namespace.')
param namespaceName string

@description('Required. Name of the topic.')
param topicName string

@description('Required. Name of the subscription.')
param name string

@description('Required. Properties of the subscription.')
param properties subscriptionType.properties

@description('Optional. Its rules; none takes every message.')
param rules subscriptionType.rules = []

resource topic 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' existing = {
  name: '${namespaceName}/${topicName}'
}

resource subscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' = {
  parent: topic
  name: name
  properties: {
    deadLetteringOnFilterEvaluationExceptions: true
    deadLetteringOnMessageExpiration: properties.DeadLetteringOnMessageExpiration
    defaultMessageTimeToLive: properties.DefaultMessageTimeToLive
    forwardDeadLetteredMessagesTo: empty(properties.ForwardDeadLetteredMessagesTo)
      ? null
      : properties.ForwardDeadLetteredMessagesTo
    forwardTo: empty(properties.ForwardTo) ? null : properties.ForwardTo
    lockDuration: properties.LockDuration
    maxDeliveryCount: properties.MaxDeliveryCount
    requiresSession: properties.RequiresSession
  }
}

resource ruleResources 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2024-01-01' = [
  for (rule, index) in rules: {
    parent: subscription
    // A new subscription has the rule $Default, which takes everything: the first of ours must replace it.
    name: index == 0 ? '$Default' : rule.Name
    properties: {
      filterType: rule.Properties.FilterType == 'Sql' ? 'SqlFilter' : 'CorrelationFilter'
      sqlFilter: rule.Properties.FilterType == 'Sql'
        ? { sqlExpression: rule.Properties.SqlFilter!.SqlExpression }
        : null
      correlationFilter: rule.Properties.FilterType == 'Correlation'
        ? {
            contentType: rule.Properties.?CorrelationFilter.?ContentType
            correlationId: rule.Properties.?CorrelationFilter.?CorrelationId
            label: rule.Properties.?CorrelationFilter.?Label
            messageId: rule.Properties.?CorrelationFilter.?MessageId
            replyTo: rule.Properties.?CorrelationFilter.?ReplyTo
            replyToSessionId: rule.Properties.?CorrelationFilter.?ReplyToSessionId
            sessionId: rule.Properties.?CorrelationFilter.?SessionId
            to: rule.Properties.?CorrelationFilter.?To
            properties: rule.Properties.?CorrelationFilter.?Properties
          }
        : null
      action: contains(rule.Properties, 'Action') ? { sqlExpression: rule.Properties.Action!.SqlExpression } : null
    }
  }
]

@description('Name of the subscription.')
output name string = subscription.name

@description('Resource id of the subscription.')
output resourceId string = subscription.id
