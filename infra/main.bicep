metadata name = 'Redelivery consumer'
metadata description = 'Everything that the consumer needs, in one resource group.'

targetScope = 'subscription'

import { queues, topics } from 'entities.bicep'
import { checkedName, checkedQueue, checkedRetention, checkedSettings, checkedTable, checkedTier, checkedTopic } from 'guards.bicep'
import { stageType } from 'stages.bicep'
import { budgetType } from 'modules/budget.bicep'
import { principalType } from 'modules/types.bicep'

@description('Required. Name of the environment: part of every name, and the tag that azd finds it by. Letters, digits and hyphens.')
@minLength(1)
@maxLength(20)
param environmentName string

@description('Required. Region of all resources.')
@minLength(1)
param location string

@description('Required. Sizes and safeguards, from stages.bicep.')
param stage stageType

@description('Required. What the handlers read, such as PAYMENTS_URL. Give secrets as Key Vault references.')
param handlerSettings { *: string }

@description('Optional. Values of a policy that differ here: RETRY__<EVENT>__<FIELD>.')
param policySettings { *: string } = {}

@description('Optional. Table of the ledger: letters and digits, a letter first.')
@minLength(3)
@maxLength(63)
param ledgerTableName string = 'ledger'

@description('Optional. Days that the ledger remembers an ended event; more than the longest retry window and replayHorizonInDays together, or a replay could run an effect again.')
@minValue(1)
@maxValue(3650)
param ledgerRetentionInDays int = 30

@description('Optional. Days after which no dead letter is replayed any more.')
@minValue(1)
@maxValue(3650)
param replayHorizonInDays int = 14

@description('Optional. Who gets a mail on an alert.')
param alertEmails string[] = []

@description('Optional. Who works the dead-letter queues.')
param operators principalType[] = []

@description('Optional. Whether the scaler may read message counts by a custom role; needs the right to write role definitions.')
param scaleByMessageCounts bool = true

@description('Optional. Budget of the resource group.')
param budget budgetType?

@description('Optional. Further tags.')
param tags object = {}

var allTags = union(tags, { 'azd-env-name': environmentName })
// The same names each time, and others in another subscription.
var token = take(uniqueString(subscription().id, environmentName, location), 8)
var suffix = '${checkedName(environmentName)}-${token}'
// Known before anything is deployed, so that what-if and snapshots see through to the end.
var names = {
  identity: 'id-${suffix}'
  workspace: 'log-${suffix}'
  applicationInsights: 'appi-${suffix}'
  storage: 'st${take(replace(toLower(environmentName), '-', ''), 14)}${token}'
  serviceBus: 'sb-${suffix}'
  network: 'vnet-${suffix}'
  actionGroup: 'ag-${suffix}'
}
var ledgerTable = checkedTable(ledgerTableName)
var deploymentContainerName = 'deployment'
var tier = checkedTier(stage.serviceBusTier, stage.network)
var isIsolated = stage.network == 'isolated'
var lock = stage.locked ? { kind: 'CanNotDelete' } : null
var workQueues = map(queues, queue => checkedQueue(queue, stage.serviceBusTier))
var workTopics = map(topics, topic => checkedTopic(topic, map(queues, queue => queue.name)))

resource group 'Microsoft.Resources/resourceGroups@2024-11-01' = {
  name: 'rg-${suffix}'
  location: location
  tags: allTags
}

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  scope: group
  name: names.workspace
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  scope: group
  name: names.applicationInsights
}

resource serviceBusNamespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  scope: group
  name: names.serviceBus
}

module identity 'modules/identity.bicep' = {
  scope: group
  params: {
    name: names.identity
    location: location
    tags: allTags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  scope: group
  params: {
    workspaceName: names.workspace
    applicationInsightsName: names.applicationInsights
    location: location
    tags: allTags
    lock: lock
    retentionInDays: stage.logRetentionInDays
    dailyQuotaInGb: stage.logDailyQuotaInGb
  }
}

module storage 'modules/storage.bicep' = {
  scope: group
  params: {
    name: names.storage
    location: location
    tags: allTags
    lock: lock
    skuName: stage.storageSku
    network: stage.network
    deploymentContainerName: deploymentContainerName
    ledgerTableName: ledgerTable
  }
}

module serviceBus 'modules/service-bus.bicep' = {
  scope: group
  params: {
    name: names.serviceBus
    location: location
    tags: allTags
    lock: lock
    diagnosticSettings: { workspaceResourceId: workspace.id }
    tier: tier
    messagingUnits: stage.?messagingUnits ?? 1
    network: stage.network
    queues: workQueues
    topics: workTopics
  }
  dependsOn: [monitoring]
}

module network 'modules/network.bicep' = if (isIsolated) {
  scope: group
  params: {
    name: names.network
    location: location
    tags: allTags
  }
}

module privateEndpoints 'modules/private-endpoint.bicep' = [
  for groupId in isIsolated ? ['blob', 'table', 'namespace'] : []: {
    scope: group
    params: {
      name: 'pep-${groupId}-${suffix}'
      location: location
      tags: allTags
      groupId: groupId
      targetResourceId: groupId == 'namespace' ? serviceBus.outputs.resourceId : storage.outputs.resourceId
      subnetResourceId: network!.outputs.endpointSubnetResourceId
      networkResourceId: network!.outputs.resourceId
    }
  }
]

module roles 'modules/roles.bicep' = {
  scope: group
  params: {
    // An assignment is named for its principal, or an identity made anew would collide with what the old one left.
    #disable-next-line what-if-short-circuiting
    app: {
      principalId: identity.outputs.principalId
      principalType: 'ServicePrincipal'
    }
    operators: operators
    serviceBusNamespaceName: names.serviceBus
    queueNames: map(workQueues, queue => queue.name)
    topics: workTopics
    storageAccountName: names.storage
    ledgerTableName: ledgerTable
    applicationInsightsName: names.applicationInsights
    scaleByMessageCounts: scaleByMessageCounts
  }
  dependsOn: [monitoring, serviceBus, storage]
}

module functionApp 'modules/function-app.bicep' = {
  scope: group
  params: {
    name: 'func-${suffix}'
    planName: 'plan-${suffix}'
    location: location
    tags: allTags
    appTags: { 'azd-service-name': 'consumer' }
    identityName: names.identity
    storageAccountName: names.storage
    deploymentContainerName: deploymentContainerName
    ledgerTableName: ledgerTable
    ledgerRetentionInDays: checkedRetention(ledgerRetentionInDays, replayHorizonInDays)
    replayHorizonInDays: replayHorizonInDays
    serviceBusNamespaceName: names.serviceBus
    applicationInsightsName: names.applicationInsights
    instanceMemoryInMb: stage.instanceMemoryInMb
    maximumInstanceCount: stage.maximumInstanceCount
    alwaysReady: stage.alwaysReady
    handlerSettings: checkedSettings(handlerSettings)
    policySettings: checkedSettings(policySettings)
    subnetResourceId: isIsolated ? network!.outputs.appSubnetResourceId : null
  }
  // The app checks its connections at start, so what it may do and how it gets there comes first.
  dependsOn: [roles, privateEndpoints]
}

module actionGroup 'modules/action-group.bicep' = {
  scope: group
  params: {
    name: names.actionGroup
    tags: allTags
    emails: alertEmails
  }
}

module metricAlerts 'modules/metric-alerts.bicep' = {
  scope: group
  params: {
    namePrefix: suffix
    tags: allTags
    serviceBusNamespaceName: names.serviceBus
    tier: stage.serviceBusTier
    queues: workQueues
    topics: workTopics
    actionGroupResourceId: actionGroup.outputs.resourceId
    thresholds: stage.metricThresholds
    enabled: stage.alertsEnabled
  }
  dependsOn: [serviceBus]
}

module logAlerts 'modules/log-alerts.bicep' = {
  scope: group
  params: {
    namePrefix: suffix
    location: location
    tags: allTags
    applicationInsightsResourceId: applicationInsights.id
    actionGroupResourceId: actionGroup.outputs.resourceId
    thresholds: stage.logThresholds
    enabled: stage.alertsEnabled
    silenceIsAnAlarm: stage.silenceIsAnAlarm
  }
  dependsOn: [monitoring]
}

module workbook 'modules/workbook.bicep' = {
  scope: group
  params: {
    displayName: 'Redelivery ${environmentName}'
    location: location
    tags: allTags
    applicationInsightsResourceId: applicationInsights.id
    serviceBusNamespaceResourceId: serviceBusNamespace.id
  }
  dependsOn: [monitoring]
}

module monthlyBudget 'modules/budget.bicep' = if (budget != null) {
  scope: group
  params: {
    name: 'budget-${suffix}'
    budget: budget!
  }
}

@description('Region.')
output AZURE_LOCATION string = location

@description('Resource group.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Function app.')
output FUNCTION_APP_NAME string = functionApp.outputs.name

@description('Service Bus namespace.')
output SERVICE_BUS_NAMESPACE string = serviceBus.outputs.name
