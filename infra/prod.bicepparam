using 'main.bicep'

import { stages } from 'stages.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param stage = stages.prod
param handlerSettings = {
  PAYMENTS_URL: 'https://payments.prod.example'
}
param alertEmails = ['oncall@contoso.example']
param budget = {
  amount: 250
  startDate: '2027-01-01'
  emails: ['owner@contoso.example']
}
