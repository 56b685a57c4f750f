using Azure.Messaging.ServiceBus;

namespace Interop;

/// <summary>One behaviour, tried on an entity that no other step uses.</summary>
internal sealed record Step(string Name, string Entity, Func<ServiceBusClient, string, Task> RunAsync);

internal static class Outcome
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    /// <summary>Why the step failed, in one line; null when it did not.</summary>
    public static async Task<string?> OfAsync(Step step, ServiceBusClient client)
    {
        try
        {
            await step.RunAsync(client, step.Entity).WaitAsync(Limit);
            return null;
        }
        catch (Exception error)
        {
            return $"{error.GetType().Name}: {error.Message}".ReplaceLineEndings(" ");
        }
    }
}
