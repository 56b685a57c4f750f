using Azure.Messaging.ServiceBus;
using Azure.Messaging.ServiceBus.Administration;

namespace Interop;

internal static class TopicSteps
{
    private const string Every = "all";
    private const string Filtered = "filtered";

    public static readonly Step[] All =
    [
        new("copies a message of a topic to each subscription", "topic-copies", CopiesAsync),
        new("dead-letters in one subscription and leaves the other alone", "topic-dead-letter", DeadLetterAsync),
        new("selects by a SQL rule that a client adds, and changes the copy by its action", "topic-sql", SqlAsync),
        new("selects by a correlation rule", "topic-correlation", CorrelationAsync),
    ];

    private static async Task CopiesAsync(ServiceBusClient client, string topic)
    {
        await client.CreateSender(topic).SendMessageAsync(new ServiceBusMessage("x"));
        foreach (string subscription in (string[])[Every, Filtered])
        {
            Expect.SameList(["x"], await Expect.BodiesAsync(client.CreateReceiver(topic, subscription), 1), subscription);
        }
    }

    private static async Task DeadLetterAsync(ServiceBusClient client, string topic)
    {
        await client.CreateSender(topic).SendMessageAsync(new ServiceBusMessage("x"));
        ServiceBusReceiver receiver = client.CreateReceiver(topic, Every);
        await receiver.DeadLetterMessageAsync(await Expect.OneAsync(receiver), "Reason");
        ServiceBusReceiver dead = client.CreateReceiver(topic, Every, new ServiceBusReceiverOptions { SubQueue = SubQueue.DeadLetter });
        Expect.Same("Reason", (await Expect.OneAsync(dead)).DeadLetterReason, "reason");
        Expect.SameList(["x"], await Expect.BodiesAsync(client.CreateReceiver(topic, Filtered), 1), "the other");
    }

    private static async Task SqlAsync(ServiceBusClient client, string topic)
    {
        await ReplaceRulesAsync(client, topic, new CreateRuleOptions("big", new SqlRuleFilter("amount > 100 AND sys.Label = 'order'"))
        {
            Action = new SqlRuleAction("SET priority = 'high'"),
        });
        ServiceBusSender sender = client.CreateSender(topic);
        foreach (int amount in (int[])[50, 500])
        {
            await sender.SendMessageAsync(new ServiceBusMessage($"{amount}") { Subject = "order", ApplicationProperties = { ["amount"] = amount } });
        }
        ServiceBusReceiver receiver = client.CreateReceiver(topic, Filtered);
        ServiceBusReceivedMessage message = await Expect.OneAsync(receiver);
        Expect.Same(("500", "high"), (message.Body.ToString(), message.ApplicationProperties["priority"]), "the copy");
        await receiver.CompleteMessageAsync(message);
        await Expect.EmptyAsync(receiver);
    }

    private static async Task CorrelationAsync(ServiceBusClient client, string topic)
    {
        CorrelationRuleFilter filter = new() { CorrelationId = "c-1", ApplicationProperties = { ["region"] = "eu" } };
        await ReplaceRulesAsync(client, topic, new CreateRuleOptions("eu", filter));
        ServiceBusSender sender = client.CreateSender(topic);
        foreach (string region in (string[])["us", "eu"])
        {
            await sender.SendMessageAsync(new ServiceBusMessage(region) { CorrelationId = "c-1", ApplicationProperties = { ["region"] = region } });
        }
        ServiceBusReceiver receiver = client.CreateReceiver(topic, Filtered);
        Expect.SameList(["eu"], await Expect.BodiesAsync(receiver, 1), "bodies");
        await Expect.EmptyAsync(receiver);
    }

    private static async Task ReplaceRulesAsync(ServiceBusClient client, string topic, CreateRuleOptions rule)
    {
        await using ServiceBusRuleManager rules = client.CreateRuleManager(topic, Filtered);
        await rules.DeleteRuleAsync(CreateRuleOptions.DefaultRuleName);
        await rules.CreateRuleAsync(rule);
        List<RuleProperties> listed = [];
        await foreach (RuleProperties found in rules.GetRulesAsync()) listed.Add(found);
        Expect.SameList([(rule.Name, rule.Filter, rule.Action)], listed.Select(found => (found.Name, found.Filter, found.Action)), "rules");
    }
}
