using Azure.Messaging.ServiceBus;

namespace Interop;

internal static class Expect
{
    public static void Same<T>(T expected, T actual, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, actual))
            throw new InvalidOperationException($"{what}: expected {expected}, got {actual}");
    }

    public static void SameList<T>(IEnumerable<T> expected, IEnumerable<T> actual, string what) =>
        Same(string.Join(", ", expected), string.Join(", ", actual), what);

    public static async Task FailsAsync(ServiceBusFailureReason reason, Func<Task> act)
    {
        try
        {
            await act();
        }
        catch (ServiceBusException error)
        {
            Same(reason, error.Reason, "reason");
            return;
        }
        throw new InvalidOperationException($"expected {reason}, got no error");
    }

    /// <summary>A message, which must come.</summary>
    public static async Task<ServiceBusReceivedMessage> OneAsync(ServiceBusReceiver receiver) =>
        await receiver.ReceiveMessageAsync(TimeSpan.FromSeconds(10))
        ?? throw new InvalidOperationException($"no message came from {receiver.EntityPath}");

    /// <summary>Nothing in the entity: not waiting, not locked, not deferred, not scheduled.</summary>
    public static async Task EmptyAsync(ServiceBusReceiver receiver)
    {
        ServiceBusReceivedMessage? found = await receiver.PeekMessageAsync(fromSequenceNumber: 0);
        if (found is not null)
            throw new InvalidOperationException($"{receiver.EntityPath} still holds message {found.MessageId}");
    }

    public static async Task<IReadOnlyList<string>> BodiesAsync(ServiceBusReceiver receiver, int count)
    {
        List<string> bodies = [];
        while (bodies.Count < count)
        {
            ServiceBusReceivedMessage message = await OneAsync(receiver);
            bodies.Add(message.Body.ToString());
            await receiver.CompleteMessageAsync(message);
        }
        return bodies;
    }
}
