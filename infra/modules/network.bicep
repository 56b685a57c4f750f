metadata name = 'Network'
metadata description = 'Virtual network, and private endpoints with their DNS zones: what makes the namespace and the storage account unreachable from outside.'

@description('Required. Name of the virtual network.')
@minLength(2)
@maxLength(64)
param name string

@description('Optional. Region. The resource group\'s unless given.')
param location string = resourceGroup().location

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Address space, a /24 or larger: a quarter for the app, a quarter for the endpoints.')
param addressPrefix string = '10.42.0.0/24'

var appSubnetName = 'app'
var endpointSubnetName = 'endpoints'

resource appSecurity 'Microsoft.Network/networkSecurityGroups@2024-05-01' = {
  name: '${name}-${appSubnetName}'
  location: location
  tags: tags
  properties: { securityRules: [] }
}

resource endpointSecurity 'Microsoft.Network/networkSecurityGroups@2024-05-01' = {
  name: '${name}-${endpointSubnetName}'
  location: location
  tags: tags
  properties: { securityRules: [] }
}

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [addressPrefix] }
    subnets: [
      {
        name: appSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 0)
          networkSecurityGroup: { id: appSecurity.id }
          delegations: [
            { name: 'flex-consumption', properties: { serviceName: 'Microsoft.App/environments' } }
          ]
        }
      }
      {
        name: endpointSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 1)
          networkSecurityGroup: { id: endpointSecurity.id }
          privateEndpointNetworkPolicies: 'Enabled'
        }
      }
    ]
  }

  resource appSubnet 'subnets' existing = {
    name: appSubnetName
  }

  resource endpointSubnet 'subnets' existing = {
    name: endpointSubnetName
  }
}

@description('Name of the network.')
output name string = network.name

@description('Resource id of the network.')
output resourceId string = network.id

@description('Subnet for the app.')
output appSubnetResourceId string = network::appSubnet.id

@description('Subnet for private endpoints.')
output endpointSubnetResourceId string = network::endpointSubnet.id
