namespace Ambrosia.Protocol;

/// <summary>What a QueryAnswer holds (protocol P5.18).</summary>
public enum QueryStatus : byte
{
    Value,

    /// <summary>The query threw.</summary>
    Failure,

    /// <summary>This replica cannot answer at the moment; another may, or the same one later.</summary>
    NotNow,
}
