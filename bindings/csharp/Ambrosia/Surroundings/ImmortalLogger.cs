using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>
/// Lines of an immortal for its operator. By default they are written only by a primary that executes a record for the first time here:
/// replay and secondaries are silent, and an interpolated text is not even put together. A line is no output of the log: around a crash
/// one may come twice, or never. Any thread.
/// </summary>
public sealed class ImmortalLogger
{
    private readonly Func<bool> isPrimary;
    private readonly bool logsReplay;
    private readonly Action<LogLevel, string> write;

    internal ImmortalLogger(Func<bool> isPrimary, bool logsReplay, Action<LogLevel, string> write)
    {
        this.isPrimary = isPrimary;
        this.logsReplay = logsReplay;
        this.write = write;
    }

    /// <summary>False: lines are dropped now.</summary>
    public bool IsEnabled => logsReplay || isPrimary();

    public void Information(string text) => Write(LogLevel.Information, text);

    public void Warning(string text) => Write(LogLevel.Warning, text);

    public void Error(string text) => Write(LogLevel.Error, text);

    public void Information([InterpolatedStringHandlerArgument("")] LogText text) => Write(LogLevel.Information, text.ToString());

    public void Warning([InterpolatedStringHandlerArgument("")] LogText text) => Write(LogLevel.Warning, text.ToString());

    public void Error([InterpolatedStringHandlerArgument("")] LogText text) => Write(LogLevel.Error, text.ToString());

    private void Write(LogLevel level, string text)
    {
        if (IsEnabled) write(level, text);
    }
}
