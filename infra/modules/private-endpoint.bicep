metadata name = 'Private Endpoint'
metadata description = 'A private endpoint of one resource, with the DNS zone that leads there.'

@description('Required. Name of the endpoint.')
@minLength(2)
@maxLength(64)
param name string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Required. Resource that it leads to.')
param targetResourceId string

@description('Required. Part of the resource.')
@allowed(['blob', 'namespace', 'table'])
param groupId string

@description('Required. Subnet that it stands in.')
param subnetResourceId string

@description('Required. Network whose names are resolved to it.')
param networkResourceId string

var zoneName = groupId == 'namespace'
  ? 'privatelink.servicebus.windows.net'
  : 'privatelink.${groupId}.${environment().suffixes.storage}'

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = {
  name: zoneName
  location: 'global'
  tags: tags

  resource link 'virtualNetworkLinks' = {
    name: 'network'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: { id: networkResourceId }
    }
  }
}

resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetResourceId }
    privateLinkServiceConnections: [
      {
        name: groupId
        properties: {
          privateLinkServiceId: targetResourceId
          groupIds: [groupId]
        }
      }
    ]
  }

  resource zoneGroup 'privateDnsZoneGroups' = {
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [{ name: groupId, properties: { privateDnsZoneId: zone.id } }]
    }
  }
}

@description('Name of the endpoint.')
output name string = endpoint.name

@description('Resource id of the endpoint.')
output resourceId string = endpoint.id
