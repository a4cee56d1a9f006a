using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Logs;
using Ambrosia.Hosting.Services;
using Ambrosia.Tasks;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Running;

/// <summary>Makes what a host gives to its immortals: loggers, each with a category of its own, and services. It keeps nothing.</summary>
internal sealed class ImmortalSurroundings(IServiceProvider services, ILoggerFactory loggers, EventForwarder events)
{
    internal const string ImmortalCategory = "Ambrosia.Immortal.", CoordinatorCategory = "Ambrosia.Coordinator.";

    internal ILogger EventsOf(string instance) => events.To(
        loggers.CreateLogger(CoordinatorCategory + instance), SettingWords.Of);

    internal HostServices ServicesOf(string instance) => new(
        new ScopedServices(services, null), () => ScopedServices.OfScope(services), LinesOf(instance));

    /// <summary>Returns what takes the lines that an immortal writes to its <c>Logger</c>.</summary>
    internal Action<ImmortalLogLevel, string> WriterOf(string instance)
    {
        ILogger logger = LinesOf(instance);
        return (level, text) => logger.Log(
            level switch
            {
                ImmortalLogLevel.Error => LogLevel.Error, ImmortalLogLevel.Warning => LogLevel.Warning, _ => LogLevel.Information,
            }, "{Text}", text);
    }

    /// <summary>Returns what takes the lines that binding and coordinator have for people beside events.</summary>
    internal Action<string> ComplainerOf(string instance)
    {
        ILogger logger = LinesOf(instance);
        return text => logger.LogWarning("{Text}", text);
    }

    private ILogger LinesOf(string instance) => events.To(loggers.CreateLogger(ImmortalCategory + instance));
}
