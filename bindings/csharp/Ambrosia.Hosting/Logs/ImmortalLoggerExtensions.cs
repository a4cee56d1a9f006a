using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting;

/// <summary>Lets handlers log as the rest of a program does.</summary>
public static class ImmortalLoggerExtensions
{
    /// <summary>
    /// Returns the immortal's logger in the form of the host's, for methods marked <c>[LoggerMessage]</c>. It is silent wherever the
    /// immortal's is: when a record is executed again, and on secondaries. Ask for it where something is logged, and keep it in no field:
    /// a logger is no state.
    /// </summary>
    public static ILogger AsILogger(this ImmortalLogger logger)
    {
        ArgumentNullException.ThrowIfNull(logger);
        return (ILogger)(logger.Adapter ??= new Adapter(logger, logger.Sink as ILogger));
    }

    /// <summary>Logs while the immortal does. Without a host the text goes where the immortal's lines go. Any thread.</summary>
    private sealed class Adapter(ImmortalLogger logger, ILogger? host) : ILogger
    {
        private static readonly KeyValuePair<string, object?>[] s_replay = [new("ambrosia.replay", true)];

        public bool IsEnabled(LogLevel logLevel) => logger.IsEnabled && (host?.IsEnabled(logLevel) ?? logLevel >= LogLevel.Information);

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => logger.IsEnabled ? host?.BeginScope(state) : null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!IsEnabled(logLevel)) return;
            if (host is null)
            {
                string text = formatter(state, exception);
                if (logLevel >= LogLevel.Error) logger.Error(text);
                else if (logLevel == LogLevel.Warning) logger.Warning(text);
                else logger.Information(text);
                return;
            }
            using IDisposable? scope = logger.IsOfReplay ? host.BeginScope(s_replay) : null;
            host.Log(logLevel, eventId, state, exception, formatter);
        }
    }
}
