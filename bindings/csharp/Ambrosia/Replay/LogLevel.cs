namespace Ambrosia;

/// <summary>Says how much a line of an immortal's log matters.</summary>
public enum LogLevel
{
    Information,
    Warning,
    Error,
}
