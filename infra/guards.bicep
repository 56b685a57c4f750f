metadata name = 'Guards'
metadata description = 'What is refused before anything is deployed, each with a line that says what was expected.'

import { queueType, topicType, networkKindType, serviceBusTierType } from 'modules/types.bicep'

var start = '2000-01-01T00:00:00Z'

@description('Seconds of an ISO 8601 duration.')
func seconds(duration string) int => dateTimeToEpoch(dateTimeAdd(start, duration)) - dateTimeToEpoch(start)

@export()
@description('The name of the environment, unless a resource would refuse to bear it. azd lets it have the other four.')
func checkedName(environmentName string) string =>
  length(split(environmentName, ['_', '.', '(', ')'])) > 1
    ? fail('environmentName ${environmentName} must have letters, digits and hyphens only: the names of all resources hold it.')
    : environmentName

@export()
@description('The name of a table, unless Table Storage refuses it.')
func checkedTable(name string) string =>
  length(split(name, ['-', '_', '.', ' '])) > 1 || contains('0123456789', take(name, 1))
    ? fail('ledgerTableName ${name} must have letters and digits only, a letter first.')
    : name

@export()
@description('Days that the ledger remembers, unless a replay may come later than that; the app would refuse to start.')
func checkedRetention(retentionInDays int, replayHorizonInDays int) int =>
  retentionInDays <= replayHorizonInDays
    ? fail('ledgerRetentionInDays ${retentionInDays} must be more than replayHorizonInDays ${replayHorizonInDays}, or a replay could run an effect again.')
    : retentionInDays

@export()
@description('App settings, unless one has a name that Linux does not take; the platform would complain of something else.')
func checkedSettings(settings { *: string }) { *: string } =>
  !empty(filter(objectKeys(settings), name => length(split(name, ['-', ':', ' ', '/'])) > 1))
    ? fail('Settings ${join(objectKeys(settings), ', ')}: a name must have letters, digits, periods and underscores only.')
    : settings

@export()
@description('The tier, unless it cannot do what the network asks for.')
func checkedTier(tier serviceBusTierType, network networkKindType) serviceBusTierType =>
  tier == 'Standard' && network == 'isolated'
    ? fail('serviceBusTier Standard has no private endpoints: network "isolated" needs Premium, or take network "public".')
    : tier

@export()
@description('The queue, unless its properties contradict each other or the limits of the service.')
func checkedQueue(queue queueType, tier serviceBusTierType) queueType =>
  !queue.properties.DeadLetteringOnMessageExpiration
    ? fail('Queue ${queue.name}: DeadLetteringOnMessageExpiration must be true, or expired messages vanish without a trace.')
    : seconds(queue.properties.LockDuration) > 300 || seconds(queue.properties.LockDuration) < 5
        ? fail('Queue ${queue.name}: LockDuration ${queue.properties.LockDuration} must be 5 seconds to 5 minutes.')
        : queue.properties.RequiresDuplicateDetection && seconds(queue.properties.DuplicateDetectionHistoryTimeWindow) < seconds(queue.properties.LockDuration) * queue.properties.MaxDeliveryCount
            ? fail('Queue ${queue.name}: DuplicateDetectionHistoryTimeWindow ${queue.properties.DuplicateDetectionHistoryTimeWindow} must be at least LockDuration x MaxDeliveryCount (${seconds(queue.properties.LockDuration) * queue.properties.MaxDeliveryCount} s), or a copy that a later delivery sends again counts as new.')
            : tier == 'Standard' && queue.properties.MaxSizeInMegabytes > 5120
                ? fail('Queue ${queue.name}: MaxSizeInMegabytes ${queue.properties.MaxSizeInMegabytes} must be at most 5120 in Standard.')
                : queue

@export()
@description('The topic, unless one of its subscriptions loses messages in silence or forwards where nothing is.')
func checkedTopic(topic topicType, queueNames string[]) topicType =>
  !empty(filter(topic.subscriptions, subscription => !subscription.properties.DeadLetteringOnMessageExpiration))
    ? fail('Topic ${topic.name}: every subscription must have DeadLetteringOnMessageExpiration true, or expired messages vanish without a trace.')
    : !empty(filter(
          topic.subscriptions,
          subscription =>
            !empty(subscription.properties.ForwardTo) && !contains(queueNames, subscription.properties.ForwardTo)
        ))
        ? fail('Topic ${topic.name}: a subscription forwards to a queue that local/entities.json does not have.')
        : topic
