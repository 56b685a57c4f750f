metadata name = 'Entities'
metadata description = 'The queues and topics of local/entities.json, with what only Azure has from overrides.json. Read here and nowhere else.'

// Typed, because a list that happens to be empty has no items to know the type of.
var namespace object = loadJsonContent('../local/entities.json').UserConfig.Namespaces[0]
var overrides object = loadJsonContent('overrides.json')

// What the emulator takes for a property that the file leaves out, so that both mean the same.
var queueDefaults = {
  DeadLetteringOnMessageExpiration: false
  DefaultMessageTimeToLive: 'PT1H'
  DuplicateDetectionHistoryTimeWindow: 'PT20S'
  ForwardDeadLetteredMessagesTo: ''
  ForwardTo: ''
  LockDuration: 'PT1M'
  MaxDeliveryCount: 3
  RequiresDuplicateDetection: false
  RequiresSession: false
}
var topicDefaults = {
  DefaultMessageTimeToLive: 'PT1H'
  DuplicateDetectionHistoryTimeWindow: 'PT20S'
  RequiresDuplicateDetection: false
}
var subscriptionDefaults = {
  DeadLetteringOnMessageExpiration: false
  DefaultMessageTimeToLive: 'PT1H'
  ForwardDeadLetteredMessagesTo: ''
  ForwardTo: ''
  LockDuration: 'PT1M'
  MaxDeliveryCount: 3
  RequiresSession: false
}

@export()
@description('The work queues: defaults, then local/entities.json, then overrides for every queue, then for this one.')
var queues = map(namespace.?Queues ?? [], queue => {
  name: queue.Name
  properties: union(queueDefaults, queue.?Properties ?? {}, overrides.everyQueue, overrides.queues[?queue.Name] ?? {})
})

@export()
@description('The topics with their subscriptions and rules, made up likewise.')
var topics = map(namespace.?Topics ?? [], topic => {
  name: topic.Name
  properties: union(topicDefaults, topic.?Properties ?? {}, overrides.everyTopic, overrides.topics[?topic.Name] ?? {})
  subscriptions: map(topic.?Subscriptions ?? [], subscription => {
    name: subscription.Name
    properties: union(subscriptionDefaults, subscription.?Properties ?? {}, overrides.everySubscription)
    rules: subscription.?Rules ?? []
  })
})
