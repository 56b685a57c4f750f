metadata name = 'Subscription Roles'
metadata description = 'Roles on one subscription of a topic.'

import { principalType } from 'types.bicep'

@description('Required. Name of the namespace.')
param namespaceName string

@description('Required. Name of the topic.')
param topicName string

@description('Required. Name of the subscription.')
param subscriptionName string

@description('Required. Who gets the role.')
param principals principalType[]

@description('Required. Id of the role definition.')
param roleId string

resource subscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' existing = {
  name: '${namespaceName}/${topicName}/${subscriptionName}'
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principal in principals: {
    name: guid(subscription.id, principal.principalId, roleId)
    scope: subscription
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
      principalId: principal.principalId
      principalType: principal.principalType
    }
  }
]
