metadata name = 'Identity'
metadata description = 'The user-assigned identity that the app works under: it outlives the app, so roles stay when the app is made anew.'

import { lockType } from 'types.bicep'

@description('Required. Name of the identity.')
@minLength(3)
@maxLength(128)
param name string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Lock.')
param lock lockType?

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

resource identityLock 'Microsoft.Authorization/locks@2020-05-01' = if ((lock.?kind ?? (empty(lock)
  ? 'None'
  : 'CanNotDelete')) != 'None') {
  name: 'lock-${name}'
  scope: identity
  properties: {
    level: lock.?kind ?? 'CanNotDelete'
    notes: lock.?notes ?? 'Its roles are gone with it.'
  }
}

@description('Name of the identity.')
output name string = identity.name

@description('Resource id of the identity.')
output resourceId string = identity.id

@description('Object id in Entra ID, for role assignments.')
output principalId string = identity.properties.principalId

@description('Application id in Entra ID, for settings named clientId.')
output clientId string = identity.properties.clientId
