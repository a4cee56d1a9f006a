namespace CRA;

/// <summary>What became of a published entry.</summary>
public enum PublishAnswer
{
    /// <summary>It is the entry now (or was already).</summary>
    Published,

    /// <summary>The catalog has a higher epoch of this instance: the publisher is no longer its primary. Nothing was written.</summary>
    Outdated,

    /// <summary>The name belongs to an instance with another UUID. Nothing was written.</summary>
    NameTaken,
}
