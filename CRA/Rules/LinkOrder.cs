namespace CRA;

/// <summary>How one connection of a pair of instances stands to another (protocol P6.10).</summary>
public enum LinkOrder
{
    /// <summary>It wins: the other one closes.</summary>
    Newer,

    /// <summary>It loses: it closes itself.</summary>
    Older,

    /// <summary>It carries a lower epoch of one of the instances: refused with Goodbye 1.</summary>
    Refused,
}
