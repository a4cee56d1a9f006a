namespace Ambrosia;

/// <summary>How often a query is held against the state: its image before and behind the query must be the same.</summary>
public enum QueryChecking
{
    Never,

    /// <summary>The first, second, fourth, eighth … of each method in a session.</summary>
    Sampled,

    Always,
}
