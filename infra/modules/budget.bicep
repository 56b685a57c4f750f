metadata name = 'Budget'
metadata description = 'Mails when the month\'s cost of the resource group reaches half, 90% and, by forecast, all of an amount. It stops nothing.'

@export()
@description('A budget.')
type budgetType = {
  @description('Required. Amount a month, in the currency of the subscription.')
  @minValue(1)
  @maxValue(1000000)
  amount: int

  @description('Required. First day of a month, not in the past when it is created: 2026-01-01.')
  @minLength(10)
  @maxLength(10)
  startDate: string

  @description('Required. Who gets the mails, 1 to 50 addresses.')
  @minLength(1)
  @maxLength(50)
  emails: string[]
}

@description('Required. Name of the budget.')
@minLength(1)
@maxLength(63)
param name string

@description('Required. The budget.')
param budget budgetType

resource monthly 'Microsoft.Consumption/budgets@2023-11-01' = {
  name: name
  properties: {
    category: 'Cost'
    amount: budget.amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: budget.startDate }
    notifications: {
      half: {
        enabled: true
        operator: 'GreaterThanOrEqualTo'
        threshold: 50
        thresholdType: 'Actual'
        contactEmails: budget.emails
      }
      nearly: {
        enabled: true
        operator: 'GreaterThanOrEqualTo'
        threshold: 90
        thresholdType: 'Actual'
        contactEmails: budget.emails
      }
      forecast: {
        enabled: true
        operator: 'GreaterThanOrEqualTo'
        threshold: 100
        thresholdType: 'Forecasted'
        contactEmails: budget.emails
      }
    }
  }
}

@description('Name of the budget.')
output name string = monthly.name

@description('Resource id of the budget.')
output resourceId string = monthly.id
