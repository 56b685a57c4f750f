metadata name = 'Types'
metadata description = 'The types that several modules share.'

@export()
@description('A lock on a resource: it cannot be deleted before the lock is.')
type lockType = {
  @description('Optional. Kind of the lock. `CanNotDelete` unless given.')
  kind: ('CanNotDelete' | 'None')?

  @description('Optional. Why it is locked; shown to whoever tries to delete.')
  @maxLength(512)
  notes: string?
}

@export()
@description('Where the platform\'s own logs and metrics of a resource go.')
type diagnosticSettingType = {
  @description('Required. Resource id of the Log Analytics workspace.')
  workspaceResourceId: string

  @description('Optional. Groups of log categories. `allLogs` unless given.')
  logCategoryGroups: string[]?

  @description('Optional. Whether the platform metrics go there too; alerts do not need that. False unless given.')
  metrics: bool?
}

@export()
@description('What a role is assigned to.')
type principalType = {
  @description('Required. Object id in Entra ID.')
  @minLength(36)
  @maxLength(36)
  principalId: string

  @description('Required. Its kind; saying it spares the look-up that fails for identities made a moment ago.')
  principalType: 'Group' | 'ServicePrincipal' | 'User'
}

@export()
@description('A queue of entities.bicep.')
type queueType = {
  @description('Required. Its name: 1 to 260 characters.')
  @minLength(1)
  @maxLength(260)
  name: string

  @description('Required. Its properties.')
  properties: {
    @description('Required. Whether an expired message goes to the dead-letter queue; it is dropped in silence otherwise.')
    DeadLetteringOnMessageExpiration: bool

    @description('Required. ISO 8601. Time to live of a message that states none, and the cap on one that does.')
    DefaultMessageTimeToLive: string

    @description('Required. ISO 8601, 20 s to 7 days. How long a MessageId is remembered.')
    DuplicateDetectionHistoryTimeWindow: string

    @description('Required. Queue that gets the dead letters in place of its own dead-letter queue; empty for none.')
    ForwardDeadLetteredMessagesTo: string

    @description('Required. Entity that gets every message; empty for none.')
    ForwardTo: string

    @description('Required. ISO 8601, 5 s to 5 minutes.')
    LockDuration: string

    @description('Required. Deliveries after which the broker dead-letters by itself.')
    @minValue(1)
    @maxValue(2000)
    MaxDeliveryCount: int

    @description('Required. Quota in MB, 1,024 to 5,120 in Standard, to 81,920 in Premium.')
    @minValue(1024)
    @maxValue(81920)
    MaxSizeInMegabytes: int

    @description('Required. Whether a MessageId seen in the window is dropped. Fixed at creation.')
    RequiresDuplicateDetection: bool

    @description('Required. Whether it takes messages with a session id only. Fixed at creation.')
    RequiresSession: bool
  }
}

@export()
@description('A subscription of a topic in entities.bicep.')
type subscriptionType = {
  @description('Required. Its name: 1 to 50 characters.')
  @minLength(1)
  @maxLength(50)
  name: string

  @description('Required. Its properties.')
  properties: {
    @description('Required. Whether an expired message goes to the dead-letter queue; it is dropped in silence otherwise.')
    DeadLetteringOnMessageExpiration: bool

    @description('Required. ISO 8601. Time to live of a message that states none, and the cap on one that does.')
    DefaultMessageTimeToLive: string

    @description('Required. Queue that gets the dead letters; empty for none.')
    ForwardDeadLetteredMessagesTo: string

    @description('Required. The work queue that gets every message; empty for none.')
    ForwardTo: string

    @description('Required. ISO 8601, 5 s to 5 minutes.')
    LockDuration: string

    @description('Required. Deliveries after which the broker dead-letters by itself.')
    @minValue(1)
    @maxValue(2000)
    MaxDeliveryCount: int

    @description('Required. Whether it takes messages with a session id only. Fixed at creation.')
    RequiresSession: bool
  }

  @description('Required. Its rules in the emulator\'s format; none takes every message.')
  rules: {
    @description('Required. Its name: 1 to 50 characters.')
    Name: string

    @description('Required. Filter and action.')
    Properties: {
      @description('Required. Which of the filters counts.')
      FilterType: 'Correlation' | 'Sql'

      @description('Optional. Values that must be equal; `Properties` holds the application\'s own.')
      CorrelationFilter: object?

      @description('Optional. A condition, as SQL.')
      SqlFilter: { SqlExpression: string }?

      @description('Optional. What to change of a message that matches.')
      Action: { SqlExpression: string }?
    }
  }[]
}

@export()
@description('A topic of entities.bicep.')
type topicType = {
  @description('Required. Its name: 1 to 260 characters.')
  @minLength(1)
  @maxLength(260)
  name: string

  @description('Required. Its properties.')
  properties: {
    @description('Required. ISO 8601. The cap on the time to live of its messages.')
    DefaultMessageTimeToLive: string

    @description('Required. ISO 8601, 20 s to 7 days. How long a MessageId is remembered.')
    DuplicateDetectionHistoryTimeWindow: string

    @description('Required. Quota in MB, 1,024 to 5,120 in Standard, to 81,920 in Premium.')
    @minValue(1024)
    @maxValue(81920)
    MaxSizeInMegabytes: int

    @description('Required. Whether a MessageId seen in the window is dropped. Fixed at creation.')
    RequiresDuplicateDetection: bool
  }

  @description('Required. Its subscriptions.')
  subscriptions: subscriptionType[]
}

@export()
@description('How the namespace is reached.')
type networkKindType = 'public' | 'isolated'

@export()
@description('Tier of the namespace. Basic has neither topics, sessions nor duplicate detection.')
type serviceBusTierType = 'Standard' | 'Premium'
