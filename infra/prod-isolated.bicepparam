using 'main.bicep'

import { stages } from 'stages.bicep'

param environmentName = 'prodiso'
param location = 'westeurope'
param stage = stages['prod-isolated']
param handlerSettings = {
  PAYMENTS_URL: 'https://payments.prod-isolated.example'
}
param alertEmails = ['oncall@contoso.example']
