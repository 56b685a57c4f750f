using Azure.Messaging.ServiceBus;

namespace Interop;

internal static class QueueSteps
{
    public static readonly Step[] All =
    [
        new("sends a message with all its fields", "fields", FieldsAsync),
        new("sends a batch, received in its order", "batch", BatchAsync),
        new("completes a message for good", "complete", CompleteAsync),
        new("abandons a message, which comes back changed and counted", "abandon", AbandonAsync),
        new("dead-letters with a reason and a description", "dead-letter", DeadLetterAsync),
        new("dead-letters what is abandoned too often", "count-out", CountOutAsync),
        new("defers a message and receives it by its number", "defer", DeferAsync),
        new("renews a lock", "renew", RenewAsync),
        new("reports a lock that was lost", "short-lock", LostLockAsync),
        new("receives and deletes", "receive-and-delete", ReceiveAndDeleteAsync),
        new("processes messages with a processor", "processor", ProcessorAsync),
        new("reports a queue that is not there", "nowhere", NotFoundAsync),
    ];

    private static async Task FieldsAsync(ServiceBusClient client, string queue)
    {
        DateTimeOffset at = DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_000);
        Guid id = Guid.Parse("6f9619ff-8b86-d011-b42d-00cf4fc964ff");
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("the body")
        {
            MessageId = "m-1", CorrelationId = "c-1", ContentType = "text/plain", Subject = "created", To = "billing",
            ReplyTo = "answers", ReplyToSessionId = "s-1", TimeToLive = TimeSpan.FromMinutes(10),
            ApplicationProperties = { ["int"] = 1, ["long"] = 2L, ["double"] = 0.5, ["bool"] = true, ["at"] = at, ["id"] = id },
        });
        ServiceBusReceivedMessage got = await Expect.OneAsync(client.CreateReceiver(queue));
        Expect.SameList(
            ["the body", "m-1", "c-1", "text/plain", "created", "billing", "answers", "s-1"],
            [got.Body.ToString(), got.MessageId, got.CorrelationId, got.ContentType, got.Subject, got.To, got.ReplyTo, got.ReplyToSessionId],
            "fields");
        Expect.SameList<object>(
            [1, 2L, 0.5, true, at, id],
            ((string[])["int", "long", "double", "bool", "at", "id"]).Select(name => got.ApplicationProperties[name]),
            "application properties");
        Expect.Same(TimeSpan.FromMinutes(10), got.TimeToLive, "time to live");
        Expect.Same((1, 1L, 1L, ServiceBusMessageState.Active),
            (got.DeliveryCount, got.SequenceNumber, got.EnqueuedSequenceNumber, got.State), "what the broker adds");
        Expect.Same(TimeSpan.FromMinutes(1), Rounded(got.LockedUntil - got.EnqueuedTime), "lock");
    }

    private static async Task BatchAsync(ServiceBusClient client, string queue)
    {
        ServiceBusSender sender = client.CreateSender(queue);
        using ServiceBusMessageBatch batch = await sender.CreateMessageBatchAsync();
        Expect.Same(262_144L, batch.MaxSizeInBytes, "largest batch");
        foreach (string body in (string[])["a", "b", "c"]) batch.TryAddMessage(new ServiceBusMessage(body));
        await sender.SendMessagesAsync(batch);
        Expect.SameList(["a", "b", "c"], await Expect.BodiesAsync(client.CreateReceiver(queue), 3), "bodies");
    }

    private static async Task CompleteAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        await receiver.CompleteMessageAsync(await Expect.OneAsync(receiver));
        await Expect.EmptyAsync(receiver);
    }

    private static async Task AbandonAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x") { ApplicationProperties = { ["kept"] = "k" } });
        ServiceBusReceivedMessage first = await Expect.OneAsync(receiver);
        await receiver.AbandonMessageAsync(first, new Dictionary<string, object> { ["why"] = "later" });
        ServiceBusReceivedMessage second = await Expect.OneAsync(receiver);
        Expect.Same((first.SequenceNumber, 2), (second.SequenceNumber, second.DeliveryCount), "number and delivery count");
        Expect.Same(("k", "later"), (second.ApplicationProperties["kept"], second.ApplicationProperties["why"]), "properties");
    }

    private static async Task DeadLetterAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        ServiceBusReceivedMessage message = await Expect.OneAsync(receiver);
        await receiver.DeadLetterMessageAsync(message, "MalformedBody", "no JSON at all");
        ServiceBusReceiver dead = client.CreateReceiver(queue, new ServiceBusReceiverOptions { SubQueue = SubQueue.DeadLetter });
        ServiceBusReceivedMessage letter = await Expect.OneAsync(dead);
        Expect.Same(("MalformedBody", "no JSON at all", message.SequenceNumber),
            (letter.DeadLetterReason, letter.DeadLetterErrorDescription, letter.SequenceNumber), "dead letter");
        await dead.CompleteMessageAsync(letter);
        await Expect.EmptyAsync(dead);
    }

    private static async Task CountOutAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        for (int delivery = 1; delivery <= 3; delivery++) await receiver.AbandonMessageAsync(await Expect.OneAsync(receiver));
        ServiceBusReceiver dead = client.CreateReceiver(queue, new ServiceBusReceiverOptions { SubQueue = SubQueue.DeadLetter });
        ServiceBusReceivedMessage letter = await Expect.OneAsync(dead);
        Expect.Same(("MaxDeliveryCountExceeded", "Message could not be consumed after 3 delivery attempts."),
            (letter.DeadLetterReason, letter.DeadLetterErrorDescription), "dead letter");
    }

    private static async Task DeferAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessagesAsync([new ServiceBusMessage("later"), new ServiceBusMessage("now")]);
        ServiceBusReceivedMessage message = await Expect.OneAsync(receiver);
        await receiver.DeferMessageAsync(message);
        Expect.SameList(["now"], await Expect.BodiesAsync(receiver, 1), "bodies of what is not deferred");
        ServiceBusReceivedMessage seen = await receiver.PeekMessageAsync(message.SequenceNumber);
        Expect.Same(ServiceBusMessageState.Deferred, seen.State, "state");
        ServiceBusReceivedMessage deferred = await receiver.ReceiveDeferredMessageAsync(message.SequenceNumber);
        Expect.Same("later", deferred.Body.ToString(), "body");
        await receiver.CompleteMessageAsync(deferred);
        await Expect.EmptyAsync(receiver);
    }

    private static async Task RenewAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        ServiceBusReceivedMessage message = await Expect.OneAsync(receiver);
        DateTimeOffset before = message.LockedUntil;
        while (message.LockedUntil <= before) await receiver.RenewMessageLockAsync(message);
        await receiver.CompleteMessageAsync(message);
        await Expect.FailsAsync(ServiceBusFailureReason.MessageLockLost, () => receiver.RenewMessageLockAsync(message));
    }

    private static async Task LostLockAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver first = client.CreateReceiver(queue);
        ServiceBusReceiver second = client.CreateReceiver(queue);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        ServiceBusReceivedMessage stale = await Expect.OneAsync(first);
        ServiceBusReceivedMessage fresh = await Expect.OneAsync(second);
        await Expect.FailsAsync(ServiceBusFailureReason.MessageLockLost, () => first.CompleteMessageAsync(stale));
        await second.CompleteMessageAsync(fresh);
        await Expect.EmptyAsync(second);
    }

    private static async Task ReceiveAndDeleteAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue,
            new ServiceBusReceiverOptions { ReceiveMode = ServiceBusReceiveMode.ReceiveAndDelete });
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        Expect.Same("x", (await Expect.OneAsync(receiver)).Body.ToString(), "body");
        await Expect.EmptyAsync(receiver);
    }

    private static async Task ProcessorAsync(ServiceBusClient client, string queue)
    {
        const int Count = 200;
        int left = Count;
        TaskCompletionSource done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using ServiceBusProcessor processor = client.CreateProcessor(queue,
            new ServiceBusProcessorOptions { MaxConcurrentCalls = 8, PrefetchCount = 20 });
        processor.ProcessMessageAsync += _ =>
        {
            if (Interlocked.Decrement(ref left) == 0) done.TrySetResult();
            return Task.CompletedTask;
        };
        processor.ProcessErrorAsync += fault =>
        {
            done.TrySetException(fault.Exception);
            return Task.CompletedTask;
        };
        await client.CreateSender(queue).SendMessagesAsync(Enumerable.Range(0, Count).Select(n => new ServiceBusMessage($"{n}")));
        await processor.StartProcessingAsync();
        await done.Task;
        await processor.StopProcessingAsync();
        await Expect.EmptyAsync(client.CreateReceiver(queue));
    }

    private static Task NotFoundAsync(ServiceBusClient client, string queue) =>
        Expect.FailsAsync(ServiceBusFailureReason.MessagingEntityNotFound,
            () => client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x")));

    private static TimeSpan Rounded(TimeSpan span) => TimeSpan.FromSeconds(Math.Round(span.TotalSeconds));
}
