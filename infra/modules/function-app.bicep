metadata name = 'Function App'
metadata description = 'The app, on the Flex Consumption plan. Every connection is by its identity; there is no key anywhere.'

import { lockType } from 'types.bicep'

@export()
@description('Instances of a function, or of a group of functions, that never go away.')
type alwaysReadyType = {
  @description('Required. `function:NAME` for one function, or a group: `http`, `durable`, `blob`.')
  name: string

  @description('Required. How many; each is paid for around the clock.')
  @minValue(0)
  @maxValue(1000)
  instanceCount: int
}

@description('Required. Name of the app.')
@minLength(2)
@maxLength(60)
param name string

@description('Required. Name of the plan.')
@minLength(1)
@maxLength(60)
param planName string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags of all resources.')
param tags object = {}

@description('Optional. Tags of the app only, such as the one that azd finds it by.')
param appTags object = {}

@description('Optional. Lock.')
param lock lockType?

@description('Required. Name of the identity that the app works under.')
param identityName string

@description('Required. Name of the storage account.')
param storageAccountName string

@description('Required. Container that the package is deployed to.')
param deploymentContainerName string

@description('Required. Table of the ledger.')
param ledgerTableName string

@description('Optional. Days that the ledger remembers an ended event; more than the longest retry window and replayHorizonInDays together, or a replay could run an effect again.')
@minValue(1)
@maxValue(3650)
param ledgerRetentionInDays int = 30

@description('Optional. Days after which no dead letter is replayed any more.')
@minValue(1)
@maxValue(3650)
param replayHorizonInDays int = 14

@description('Required. Name of the Service Bus namespace.')
param serviceBusNamespaceName string

@description('Required. Name of the Application Insights.')
param applicationInsightsName string

@description('Optional. Major version of Node.js.')
@allowed(['22', '24'])
param nodeVersion string = '24'

@description('Optional. Memory of an instance, in MB.')
@allowed([512, 2048, 4096])
param instanceMemoryInMb int = 2048

@description('Optional. Most instances of each function; not every region takes less than 40 yet. Waiting copies are counted as work by the scaler, so this also bounds what they start.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Optional. Instances that never go away; none means that the first message waits for a cold start.')
param alwaysReady alwaysReadyType[] = []

@description('Optional. What the handlers read, such as PAYMENTS_URL. Give secrets as Key Vault references.')
param handlerSettings { *: string } = {}

@description('Optional. Values of a policy that differ here: RETRY__<EVENT>__<FIELD>.')
param policySettings { *: string } = {}

@description('Optional. Subnet that the app reaches everything through.')
param subnetResourceId string?

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource storage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource serviceBus 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: serviceBusNamespaceName
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true }
}

resource app 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: union(tags, appTags)
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: identity.id
    virtualNetworkSubnetId: subnetResourceId
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      ftpsState: 'Disabled'
      remoteDebuggingEnabled: false
    }
    functionAppConfig: {
      runtime: { name: 'node', version: nodeVersion }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryInMb
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReady
      }
      // The other strategy ends executions that run: a deployment would use up a delivery of each message in flight.
      #disable-next-line BCP037 // documented, and missing in the published type
      siteUpdateStrategy: { type: 'RollingUpdate' }
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${storage.properties.primaryEndpoints.blob}${deploymentContainerName}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identity.id
          }
        }
      }
    }
  }

  resource settings 'config@2025-03-01' = {
    name: 'appsettings'
    properties: union(handlerSettings, policySettings, {
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identity.properties.clientId};Authorization=AAD'
      APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsights.properties.ConnectionString
      AzureWebJobsStorage__accountName: storage.name
      AzureWebJobsStorage__clientId: identity.properties.clientId
      AzureWebJobsStorage__credential: 'managedidentity'
      LEDGER_RETENTION_IN_DAYS: string(ledgerRetentionInDays)
      LEDGER_TABLE: ledgerTableName
      LedgerStorage__clientId: identity.properties.clientId
      LedgerStorage__credential: 'managedidentity'
      LedgerStorage__tableServiceUri: storage.properties.primaryEndpoints.table
      REPLAY_HORIZON_IN_DAYS: string(replayHorizonInDays)
      ServiceBusConnection__clientId: identity.properties.clientId
      ServiceBusConnection__credential: 'managedidentity'
      ServiceBusConnection__fullyQualifiedNamespace: replace(
        replace(serviceBus.properties.serviceBusEndpoint, 'https://', ''),
        ':443/',
        ''
      )
    })
  }

  resource basicFtp 'basicPublishingCredentialsPolicies@2025-03-01' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource basicScm 'basicPublishingCredentialsPolicies@2025-03-01' = {
    name: 'scm'
    properties: { allow: false }
  }
}

resource appLock 'Microsoft.Authorization/locks@2020-05-01' = if ((lock.?kind ?? (empty(lock) ? 'None' : 'CanNotDelete')) != 'None') {
  name: 'lock-${name}'
  scope: app
  properties: {
    level: lock.?kind ?? 'CanNotDelete'
    notes: lock.?notes ?? 'Messages pile up without it.'
  }
}

@description('Name of the app.')
output name string = app.name

@description('Resource id of the app.')
output resourceId string = app.id
