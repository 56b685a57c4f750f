metadata name = 'Monitoring'
metadata description = 'Log Analytics workspace, and the Application Insights that keeps its tables there.'

import { lockType } from 'types.bicep'

@description('Required. Name of the workspace.')
@minLength(4)
@maxLength(63)
param workspaceName string

@description('Required. Name of the Application Insights.')
@minLength(1)
@maxLength(260)
param applicationInsightsName string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Lock on the workspace.')
param lock lockType?

@description('Optional. Days that logs are kept; 30 are in the price.')
@minValue(30)
@maxValue(730)
param retentionInDays int = 30

@description('Optional. Most GB taken in a day, after which telemetry is dropped until the next: a bound on cost. -1 for none.')
@minValue(-1)
@maxValue(1000)
param dailyQuotaInGb int = -1

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionInDays
    workspaceCapping: { dailyQuotaGb: dailyQuotaInGb }
    features: {
      disableLocalAuth: true
      enableLogAccessUsingOnlyResourcePermissions: true
    }
  }
}

resource workspaceLock 'Microsoft.Authorization/locks@2020-05-01' = if ((lock.?kind ?? (empty(lock)
  ? 'None'
  : 'CanNotDelete')) != 'None') {
  name: 'lock-${workspaceName}'
  scope: workspace
  properties: {
    level: lock.?kind ?? 'CanNotDelete'
    notes: lock.?notes ?? 'The history of every event is here.'
  }
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' = {
  name: applicationInsightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    // Telemetry is taken from the identity only, so the connection string is an address and no secret.
    DisableLocalAuth: true
  }
}

@description('Name of the Application Insights.')
output name string = applicationInsights.name

@description('Resource id of the Application Insights.')
output resourceId string = applicationInsights.id

@description('Resource id of the workspace.')
output workspaceResourceId string = workspace.id
