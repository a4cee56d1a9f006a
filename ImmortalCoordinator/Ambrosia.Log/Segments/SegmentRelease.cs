namespace Ambrosia.Log;

/// <summary>What became of a segment that the log does not need any more.</summary>
public enum SegmentRelease
{
    /// <summary>Its file is a spare now and becomes one of the next segments.</summary>
    Recycled,

    /// <summary>Its name is removed.</summary>
    Removed,

    /// <summary>Somebody reads it: it stays part of the log, and the caller asks again later.</summary>
    Held,
}
