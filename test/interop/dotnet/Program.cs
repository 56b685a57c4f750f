using Azure.Messaging.ServiceBus;
using Interop;

// Runs every step against the broker and the management API of the connection strings, and says of each, on a line, whether it went as it must.
if (args is not [string connectionString, string adminConnectionString])
{
    Console.Error.WriteLine("Usage: interop CONNECTION_STRING ADMIN_CONNECTION_STRING");
    return 2;
}

ServiceBusClientOptions options = new()
{
    RetryOptions = new ServiceBusRetryOptions { MaxRetries = 0, TryTimeout = TimeSpan.FromSeconds(10) },
};
await using ServiceBusClient client = new(connectionString, options);
bool allPassed = true;
Step[] steps =
[
    .. QueueSteps.All, .. ScheduleSteps.All, .. SessionSteps.All, .. TopicSteps.All, .. new AdminSteps(adminConnectionString).All,
];
foreach (Step step in steps)
{
    string? failure = await Outcome.OfAsync(step, client);
    allPassed &= failure is null;
    Console.WriteLine(failure is null ? $"ok {step.Name}" : $"not ok {step.Name}: {failure}");
}
return allPassed ? 0 : 1;
