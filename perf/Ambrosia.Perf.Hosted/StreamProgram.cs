using Ambrosia.Hosting;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Perf;

/// <summary>An end of a stream in a host, which prints the lines that the same end prints under a coordinator.</summary>
internal static class StreamProgram
{
    internal static IHost Build(string instance, string[] args)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Logging.ClearProviders().AddProvider(new PlainLines());
        builder.AddAmbrosia().AddImmortal<StreamEnd>(instance);
        return builder.Build();
    }

    /// <summary>Writes each event of a coordinator as a line of its text, as its own process would. Any thread.</summary>
    private sealed class PlainLines : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Console.WriteLine(formatter(state, exception));

        public void Dispose()
        {
        }
    }
}
