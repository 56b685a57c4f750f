using 'main.bicep'

import { stages } from 'stages.bicep'

param environmentName = 'dev'
param location = 'westeurope'
param stage = stages.dev
param handlerSettings = {
  PAYMENTS_URL: 'https://payments.dev.example'
}
param alertEmails = []
