using Azure.Messaging.ServiceBus;
using Azure.Messaging.ServiceBus.Administration;

namespace Interop;

/// <summary>The management API, with the client that knows how to reach an emulator.</summary>
internal sealed class AdminSteps(string connectionString)
{
    private readonly ServiceBusAdministrationClient _admin = new(connectionString);

    public Step[] All =>
    [
        new("makes a queue, uses it, changes and removes it", "made-queue", QueueAsync),
        new("makes a topic, a subscription and a rule, and counts what they got", "made-topic", TopicAsync),
        new("names an entity that is taken and one that is missing", "made-twice", ErrorsAsync),
    ];

    private async Task QueueAsync(ServiceBusClient client, string name)
    {
        QueueProperties made = await _admin.CreateQueueAsync(new CreateQueueOptions(name)
        {
            LockDuration = TimeSpan.FromSeconds(30), MaxDeliveryCount = 4, UserMetadata = "a < b", RequiresSession = false,
            DefaultMessageTimeToLive = TimeSpan.FromMinutes(30),
        });
        Expect.Same((TimeSpan.FromSeconds(30), 4, "a < b", TimeSpan.FromMinutes(30), EntityStatus.Active),
            (made.LockDuration, made.MaxDeliveryCount, made.UserMetadata, made.DefaultMessageTimeToLive, made.Status), "queue");
        await client.CreateSender(name).SendMessageAsync(new ServiceBusMessage("x"));
        QueueRuntimeProperties counts = await _admin.GetQueueRuntimePropertiesAsync(name);
        Expect.Same((1L, 1L, 0L), (counts.TotalMessageCount, counts.ActiveMessageCount, counts.DeadLetterMessageCount), "counts");
        made.Status = EntityStatus.SendDisabled;
        Expect.Same(EntityStatus.SendDisabled, (await _admin.UpdateQueueAsync(made)).Value.Status, "status");
        await Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityDisabled,
            () => client.CreateSender(name).SendMessageAsync(new ServiceBusMessage("y")));
        Expect.SameList(["x"], await Expect.BodiesAsync(client.CreateReceiver(name), 1), "bodies");
        await _admin.DeleteQueueAsync(name);
        Expect.Same(false, (await _admin.QueueExistsAsync(name)).Value, "exists");
    }

    private async Task TopicAsync(ServiceBusClient client, string name)
    {
        await _admin.CreateTopicAsync(name);
        CreateRuleOptions rule = new("big", new SqlRuleFilter("amount > 100")) { Action = new SqlRuleAction("SET size = 'big'") };
        await _admin.CreateSubscriptionAsync(new CreateSubscriptionOptions(name, "big"), rule);
        await _admin.CreateSubscriptionAsync(name, "eu");
        CorrelationRuleFilter filter = new() { Subject = "s", ApplicationProperties = { ["region"] = "eu", ["count"] = 2 } };
        await _admin.CreateRuleAsync(name, "eu", new CreateRuleOptions("eu", filter));
        await _admin.DeleteRuleAsync(name, "eu", CreateRuleOptions.DefaultRuleName);
        List<RuleProperties> rules = [];
        foreach (string subscription in (string[])["big", "eu"])
        {
            await foreach (RuleProperties found in _admin.GetRulesAsync(name, subscription)) rules.Add(found);
        }
        Expect.SameList([("big", (RuleFilter)rule.Filter, rule.Action), ("eu", filter, null!)],
            rules.Select(found => (found.Name, found.Filter, found.Action)), "rules");
        await client.CreateSender(name).SendMessageAsync(new ServiceBusMessage("x")
        {
            Subject = "s", ApplicationProperties = { ["amount"] = 500, ["region"] = "eu", ["count"] = 2 },
        });
        List<(string, long)> counts = [];
        await foreach (SubscriptionRuntimeProperties found in _admin.GetSubscriptionsRuntimePropertiesAsync(name))
        {
            counts.Add((found.SubscriptionName, found.ActiveMessageCount));
        }
        Expect.SameList([("big", 1L), ("eu", 1L)], counts, "counts");
    }

    private async Task ErrorsAsync(ServiceBusClient client, string name)
    {
        await _admin.CreateQueueAsync(name);
        await Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityAlreadyExists, () => _admin.CreateQueueAsync(name));
        await Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityNotFound, () => _admin.GetQueueAsync("missing"));
        await Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityNotFound, () => _admin.DeleteQueueAsync("missing"));
        await Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityNotFound, () => _admin.GetSubscriptionAsync("missing", "s"));
    }
}
