using 'main.bicep'

import { stages } from 'stages.bicep'

param environmentName = 'test'
param location = 'westeurope'
param stage = stages.test
param handlerSettings = {
  PAYMENTS_URL: 'https://payments.test.example'
}
param alertEmails = []
