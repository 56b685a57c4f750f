using Azure.Messaging.ServiceBus;

namespace Interop;

internal static class SessionSteps
{
    public static readonly Step[] All =
    [
        new("accepts a session by its id and gets its messages in order", "session-named", NamedAsync),
        new("accepts the next session that has messages", "session-next", NextAsync),
        new("prefetches from a session that it waited for", "session-prefetch", PrefetchAsync),
        new("reports that no session came in time", "session-none", NoneAsync),
        new("keeps the state of a session", "session-state", StateAsync),
        new("renews the lock of a session", "session-renew", RenewAsync),
        new("refuses a session that another receiver holds", "session-held", HeldAsync),
        new("refuses a message without a session", "session-missing", MissingAsync),
    ];

    private static async Task NamedAsync(ServiceBusClient client, string queue)
    {
        await client.CreateSender(queue).SendMessagesAsync([In("a", "1"), In("b", "other"), In("a", "2")]);
        await using ServiceBusSessionReceiver receiver = await client.AcceptSessionAsync(queue, "a");
        Expect.Same("a", receiver.SessionId, "session");
        Expect.SameList(["1", "2"], await Expect.BodiesAsync(receiver, 2), "bodies");
    }

    private static async Task NextAsync(ServiceBusClient client, string queue)
    {
        Task<ServiceBusSessionReceiver> waiting = client.AcceptNextSessionAsync(queue);
        await client.CreateSender(queue).SendMessageAsync(In("late", "1"));
        await using ServiceBusSessionReceiver receiver = await waiting;
        Expect.Same("late", receiver.SessionId, "session");
        Expect.SameList(["1"], await Expect.BodiesAsync(receiver, 1), "bodies");
    }

    private static async Task PrefetchAsync(ServiceBusClient client, string queue)
    {
        Task<ServiceBusSessionReceiver> waiting = client.AcceptNextSessionAsync(queue, new ServiceBusSessionReceiverOptions { PrefetchCount = 10 });
        await client.CreateSender(queue).SendMessagesAsync([In("late", "1"), In("late", "2"), In("late", "3")]);
        await using ServiceBusSessionReceiver receiver = await waiting;
        Expect.SameList(["1", "2", "3"], await Expect.BodiesAsync(receiver, 3), "bodies");
    }

    private static async Task NoneAsync(ServiceBusClient client, string queue)
    {
        using CancellationTokenSource patience = new(TimeSpan.FromSeconds(15));
        await Expect.FailsAsync(ServiceBusFailureReason.ServiceTimeout,
            () => client.AcceptNextSessionAsync(queue, cancellationToken: patience.Token));
    }

    private static async Task StateAsync(ServiceBusClient client, string queue)
    {
        await client.CreateSender(queue).SendMessageAsync(In("a", "1"));
        await using (ServiceBusSessionReceiver receiver = await client.AcceptSessionAsync(queue, "a"))
        {
            Expect.Same(null, await receiver.GetSessionStateAsync(), "state at first");
            await receiver.SetSessionStateAsync(BinaryData.FromString("half done"));
        }
        await using ServiceBusSessionReceiver again = await client.AcceptSessionAsync(queue, "a");
        Expect.Same("half done", (await again.GetSessionStateAsync()).ToString(), "state");
    }

    private static async Task RenewAsync(ServiceBusClient client, string queue)
    {
        await client.CreateSender(queue).SendMessageAsync(In("a", "1"));
        await using ServiceBusSessionReceiver receiver = await client.AcceptSessionAsync(queue, "a");
        DateTimeOffset before = receiver.SessionLockedUntil;
        while (receiver.SessionLockedUntil <= before) await receiver.RenewSessionLockAsync();
    }

    private static async Task HeldAsync(ServiceBusClient client, string queue)
    {
        await client.CreateSender(queue).SendMessageAsync(In("a", "1"));
        await using ServiceBusSessionReceiver receiver = await client.AcceptSessionAsync(queue, "a");
        await Expect.FailsAsync(ServiceBusFailureReason.SessionCannotBeLocked, () => client.AcceptSessionAsync(queue, "a"));
    }

    private static async Task MissingAsync(ServiceBusClient client, string queue)
    {
        try
        {
            await client.CreateSender(queue).SendMessageAsync(new ServiceBusMessage("x"));
        }
        catch (InvalidOperationException)
        {
            return;
        }
        throw new InvalidOperationException("expected a refusal, got no error");
    }

    private static ServiceBusMessage In(string session, string body) => new(body) { SessionId = session };
}
