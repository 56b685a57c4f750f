metadata name = 'Action Group'
metadata description = 'Who is told of alerts.'

@description('Required. Name of the group.')
@minLength(1)
@maxLength(260)
param name string

@description('Optional. Name in mails and messages.')
@minLength(1)
@maxLength(12)
param shortName string = 'redelivery'

@description('Optional. Tags.')
param tags object = {}

@description('Optional. Who gets a mail. Without any the alerts show in the portal only.')
@maxLength(1000)
param emails string[] = []

resource actionGroup 'Microsoft.Insights/actionGroups@2024-10-01-preview' = {
  name: name
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: shortName
    emailReceivers: [
      for email in emails: {
        name: email
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

@description('Name of the group.')
output name string = actionGroup.name

@description('Resource id of the group.')
output resourceId string = actionGroup.id
