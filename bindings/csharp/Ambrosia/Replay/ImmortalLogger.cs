using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>
/// Writes lines of an immortal for its operator. By default it writes only in a primary that executes a record for the first time here:
/// replay and secondaries are silent, and an interpolated text is not even put together. A line is no output of the log: around a crash one
/// may come twice, or never. Any thread may use it.
/// </summary>
public sealed class ImmortalLogger
{
    private readonly Func<bool> _isPrimary;
    private readonly bool _logsReplay;
    private readonly Action<ImmortalLogLevel, string> _write;

    internal ImmortalLogger(Func<bool> isPrimary, bool logsReplay, Action<ImmortalLogLevel, string> write)
    {
        _isPrimary = isPrimary;
        _logsReplay = logsReplay;
        _write = write;
    }

    /// <summary>False while lines are dropped.</summary>
    public bool IsEnabled => _logsReplay || _isPrimary();

    /// <summary>Lines are written, and those of a record that is executed again are among them.</summary>
    internal bool IsOfReplay => _logsReplay && !_isPrimary();

    /// <summary>Where the host has its logger for this immortal; null: it has none.</summary>
    internal object? Sink { get; init; }

    /// <summary>The form of the host's loggers that this one has, once it was asked for.</summary>
    internal object? Adapter { get; set; }

    /// <summary>Writes a line of level Information, if <see cref="IsEnabled"/>.</summary>
    public void Information(string text) => Write(ImmortalLogLevel.Information, text);

    /// <summary>Writes a line of level Warning, if <see cref="IsEnabled"/>.</summary>
    public void Warning(string text) => Write(ImmortalLogLevel.Warning, text);

    /// <summary>Writes a line of level Error, if <see cref="IsEnabled"/>.</summary>
    public void Error(string text) => Write(ImmortalLogLevel.Error, text);

    /// <inheritdoc cref="Information(string)"/>
    public void Information([InterpolatedStringHandlerArgument("")] LogText text) => Write(ImmortalLogLevel.Information, text.ToString());

    /// <inheritdoc cref="Warning(string)"/>
    public void Warning([InterpolatedStringHandlerArgument("")] LogText text) => Write(ImmortalLogLevel.Warning, text.ToString());

    /// <inheritdoc cref="Error(string)"/>
    public void Error([InterpolatedStringHandlerArgument("")] LogText text) => Write(ImmortalLogLevel.Error, text.ToString());

    private void Write(ImmortalLogLevel level, string text)
    {
        if (IsEnabled) _write(level, text);
    }
}

/// <summary>Says how much a line of an immortal's log matters.</summary>
public enum ImmortalLogLevel
{
    Information,
    Warning,
    Error,
}
