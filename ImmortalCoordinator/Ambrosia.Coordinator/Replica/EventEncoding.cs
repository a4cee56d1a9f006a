namespace Ambrosia.Coordinator.Replica;

/// <summary>Says how a coordinator writes its events to the standard output (docs/operating.md).</summary>
public enum EventEncoding
{
    /// <summary>Each event is one line for people; where the journal reads it, the line has a priority and no time.</summary>
    Text,

    /// <summary>Each event is one JSON object on a line, with its fields.</summary>
    Json,
}
