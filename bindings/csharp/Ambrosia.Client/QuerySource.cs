namespace Ambrosia.Client;

/// <summary>Who answers a client's queries.</summary>
public enum QuerySource
{
    /// <summary>The primary; while there is none that answers, whichever replica does.</summary>
    Any,

    /// <summary>The primary alone: a query waits for it.</summary>
    Primary,

    /// <summary>Secondaries, so that the primary has less to do; the primary where none answers.</summary>
    Secondaries,
}
