using Azure.Messaging.ServiceBus;
using Interop;

// Runs every step against the broker of the connection string, and says of each, on a line, whether it went as it must.
if (args is not [string connectionString])
{
    Console.Error.WriteLine("Usage: interop CONNECTION_STRING");
    return 2;
}

ServiceBusClientOptions options = new()
{
    RetryOptions = new ServiceBusRetryOptions { MaxRetries = 0, TryTimeout = TimeSpan.FromSeconds(10) },
};
await using ServiceBusClient client = new(connectionString, options);
bool allPassed = true;
foreach (Step step in (Step[])[.. QueueSteps.All, .. ScheduleSteps.All, .. SessionSteps.All, .. TopicSteps.All])
{
    string? failure = await Outcome.OfAsync(step, client);
    allPassed &= failure is null;
    Console.WriteLine(failure is null ? $"ok {step.Name}" : $"not ok {step.Name}: {failure}");
}
return allPassed ? 0 : 1;
