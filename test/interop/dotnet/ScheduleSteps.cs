using Azure.Messaging.ServiceBus;

namespace Interop;

internal static class ScheduleSteps
{
    public static readonly Step[] All =
    [
        new("schedules a message, which comes when it is due", "schedule", ScheduleAsync),
        new("sends a message for a later time, as a redelivery does", "send-later", SendLaterAsync),
        new("cancels a scheduled message", "cancel", CancelAsync),
        new("drops the second of two messages of one id, scheduled or not", "duplicates", DuplicateAsync),
    ];

    private static async Task ScheduleAsync(ServiceBusClient client, string queue)
    {
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        DateTimeOffset due = DateTimeOffset.UtcNow.AddSeconds(2);
        long number = await client.CreateSender(queue).ScheduleMessageAsync(new ServiceBusMessage("x"), due);
        ServiceBusReceivedMessage waiting = await receiver.PeekMessageAsync();
        Expect.Same((number, ServiceBusMessageState.Scheduled), (waiting.SequenceNumber, waiting.State), "while it waits");
        await IsDueAsync(receiver, due);
    }

    private static async Task SendLaterAsync(ServiceBusClient client, string queue)
    {
        DateTimeOffset due = DateTimeOffset.UtcNow.AddSeconds(2);
        await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x") { ScheduledEnqueueTime = due });
        await IsDueAsync(client.CreateReceiver(queue), due);
    }

    private static async Task IsDueAsync(ServiceBusReceiver receiver, DateTimeOffset due)
    {
        ServiceBusReceivedMessage message = await Expect.OneAsync(receiver);
        // The wire carries milliseconds.
        TimeSpan early = due - message.EnqueuedTime;
        if (early >= TimeSpan.FromMilliseconds(1)) throw new InvalidOperationException($"came {early} early");
        Expect.Same(due.ToUnixTimeMilliseconds(), message.ScheduledEnqueueTime.ToUnixTimeMilliseconds(), "scheduled time");
        await receiver.CompleteMessageAsync(message);
        await Expect.EmptyAsync(receiver);
    }

    private static async Task CancelAsync(ServiceBusClient client, string queue)
    {
        ServiceBusSender sender = client.CreateSender(queue);
        long number = await sender.ScheduleMessageAsync(new ServiceBusMessage("x"), DateTimeOffset.UtcNow.AddHours(1));
        await sender.CancelScheduledMessageAsync(number);
        await Expect.EmptyAsync(client.CreateReceiver(queue));
        await Expect.FailsAsync(ServiceBusFailureReason.MessageNotFound, () => sender.CancelScheduledMessageAsync(number));
    }

    private static async Task DuplicateAsync(ServiceBusClient client, string queue)
    {
        ServiceBusSender sender = client.CreateSender(queue);
        ServiceBusReceiver receiver = client.CreateReceiver(queue);
        await sender.SendMessageAsync(new ServiceBusMessage("first") { MessageId = "one" });
        await sender.SendMessageAsync(new ServiceBusMessage("second") { MessageId = "one" });
        await sender.ScheduleMessageAsync(new ServiceBusMessage("third") { MessageId = "one" }, DateTimeOffset.UtcNow.AddHours(1));
        Expect.SameList(["first"], await Expect.BodiesAsync(receiver, 1), "bodies");
        await Expect.EmptyAsync(receiver);
    }
}
