metadata name = 'Stages'
metadata description = 'What differs between dev, test and prod. The parameter files take their values from here, and so does azd by STAGE.'

import { networkKindType, serviceBusTierType } from 'modules/types.bicep'
import { metricThresholdsType } from 'modules/metric-alerts.bicep'
import { logThresholdsType } from 'modules/log-alerts.bicep'
import { alwaysReadyType } from 'modules/function-app.bicep'

@export()
@description('The sizes and safeguards of a stage.')
type stageType = {
  @description('Required. Tier of the namespace.')
  serviceBusTier: serviceBusTierType

  @description('Required. How namespace and storage are reached.')
  network: networkKindType

  @description('Optional. Messaging units, Premium only. 1 unless given.')
  messagingUnits: (1 | 2 | 4 | 8 | 16)?

  @description('Required. Redundancy of the storage account, and so of the ledger.')
  storageSku: 'Standard_LRS' | 'Standard_ZRS' | 'Standard_GZRS'

  @description('Required. Memory of an instance, in MB.')
  instanceMemoryInMb: 512 | 2048 | 4096

  @description('Required. Most instances of each function. Not every region takes less than 40 yet.')
  @minValue(1)
  @maxValue(1000)
  maximumInstanceCount: int

  @description('Required. Instances that never go away.')
  alwaysReady: alwaysReadyType[]

  @description('Required. Days that logs are kept.')
  @minValue(30)
  @maxValue(730)
  logRetentionInDays: int

  @description('Required. Most GB of telemetry in a day; -1 for no limit.')
  @minValue(-1)
  @maxValue(1000)
  logDailyQuotaInGb: int

  @description('Required. Whether namespace, storage and logs are locked against deletion.')
  locked: bool

  @description('Required. Whether alerts are on.')
  alertsEnabled: bool

  @description('Required. Whether silence is an alarm.')
  silenceIsAnAlarm: bool

  @description('Required. From where on the platform\'s own alerts fire.')
  metricThresholds: metricThresholdsType

  @description('Required. From where on alerts on what the app reports fire.')
  logThresholds: logThresholdsType
}

var dev stageType = {
  serviceBusTier: 'Standard'
  network: 'public'
  storageSku: 'Standard_LRS'
  instanceMemoryInMb: 2048
  maximumInstanceCount: 40
  alwaysReady: []
  logRetentionInDays: 30
  logDailyQuotaInGb: 1
  locked: false
  alertsEnabled: false
  silenceIsAnAlarm: false
  metricThresholds: {}
  logThresholds: {}
}

var test stageType = {
  ...dev
  alertsEnabled: true
}

var prod stageType = {
  serviceBusTier: 'Standard'
  network: 'public'
  storageSku: 'Standard_ZRS'
  instanceMemoryInMb: 2048
  maximumInstanceCount: 100
  alwaysReady: []
  logRetentionInDays: 90
  logDailyQuotaInGb: -1
  locked: true
  alertsEnabled: true
  silenceIsAnAlarm: true
  metricThresholds: {}
  logThresholds: {}
}

@export()
@description('The stages by name.')
var stages = {
  dev: dev
  test: test
  prod: prod
  'prod-isolated': {
    ...prod
    serviceBusTier: 'Premium'
    network: 'isolated'
    messagingUnits: 1
  }
}
