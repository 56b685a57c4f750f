metadata name = 'Queue Roles'
metadata description = 'Roles on one queue.'

import { principalType } from 'types.bicep'

@description('Required. Name of the namespace.')
param namespaceName string

@description('Required. Name of the queue.')
param queueName string

@description('Required. Who gets the roles, all of them.')
param principals principalType[]

@description('Required. Ids of the role definitions.')
param roleIds string[]

var pairs = flatten(map(principals, principal => map(roleIds, roleId => { ...principal, roleId: roleId })))

resource queue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' existing = {
  name: '${namespaceName}/${queueName}'
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for pair in pairs: {
    name: guid(queue.id, pair.principalId, pair.roleId)
    scope: queue
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', pair.roleId)
      principalId: pair.principalId
      principalType: pair.principalType
    }
  }
]
