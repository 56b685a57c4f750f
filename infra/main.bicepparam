using 'main.bicep'

import { stages } from 'stages.bicep'

// For azd: `azd env set STAGE prod`, PAYMENTS_URL, ALERT_EMAILS (comma-separated), OPERATOR_GROUP_ID (object id in Entra ID).
var emails = readEnvironmentVariable('ALERT_EMAILS', '')
var operatorGroupId = readEnvironmentVariable('OPERATOR_GROUP_ID', '')

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME', 'dev')
param location = readEnvironmentVariable('AZURE_LOCATION', 'westeurope')
param stage = stages[readEnvironmentVariable('STAGE', 'dev')]
param handlerSettings = {
  PAYMENTS_URL: readEnvironmentVariable('PAYMENTS_URL', 'https://payments.example')
}
param alertEmails = empty(emails) ? [] : split(emails, ',')
param operators = empty(operatorGroupId) ? [] : [{ principalId: operatorGroupId, principalType: 'Group' }]
