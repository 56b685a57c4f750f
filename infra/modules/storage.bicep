metadata name = 'Storage'
metadata description = 'Storage account: the container that the app is deployed to, and the table of the ledger.'

import { lockType, networkKindType } from 'types.bicep'

@description('Required. Name of the account.')
@minLength(3)
@maxLength(24)
param name string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Lock.')
param lock lockType?

@description('Optional. Redundancy. The ledger is as safe as this.')
@allowed(['Standard_LRS', 'Standard_ZRS', 'Standard_GZRS'])
param skuName string = 'Standard_LRS'

@description('Optional. `isolated` closes the public endpoint.')
param network networkKindType = 'public'

@description('Optional. Container that the app\'s package is deployed to.')
@minLength(3)
@maxLength(63)
param deploymentContainerName string = 'deployment'

@description('Required. Table of the ledger: letters and digits, a letter first.')
@minLength(3)
@maxLength(63)
param ledgerTableName string

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: skuName }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: network == 'isolated' ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: network == 'isolated' ? 'Deny' : 'Allow'
    }
  }

  resource blobs 'blobServices@2024-01-01' = {
    name: 'default'
    properties: {
      deleteRetentionPolicy: { enabled: true, days: 7 }
    }

    resource container 'containers@2024-01-01' = {
      name: deploymentContainerName
      properties: { publicAccess: 'None' }
    }
  }

  resource tables 'tableServices@2024-01-01' = {
    name: 'default'

    resource ledger 'tables@2024-01-01' = {
      name: ledgerTableName
    }
  }
}

resource accountLock 'Microsoft.Authorization/locks@2020-05-01' = if ((lock.?kind ?? (empty(lock)
  ? 'None'
  : 'CanNotDelete')) != 'None') {
  name: 'lock-${name}'
  scope: account
  properties: {
    level: lock.?kind ?? 'CanNotDelete'
    notes: lock.?notes ?? 'Without the ledger every event may run again.'
  }
}

@description('Name of the account.')
output name string = account.name

@description('Resource id of the account.')
output resourceId string = account.id

@description('Name of the deployment container.')
output deploymentContainerName string = account::blobs::container.name

@description('Name of the ledger\'s table.')
output ledgerTableName string = account::tables::ledger.name
