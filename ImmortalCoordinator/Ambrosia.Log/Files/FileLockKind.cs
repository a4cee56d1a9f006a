namespace Ambrosia.Log;

/// <summary>How a file is locked.</summary>
public enum FileLockKind
{
    /// <summary>With any number of others; a read-only opening will do. What a reader holds while the file must stay as it is.</summary>
    Shared,

    /// <summary>Alone.</summary>
    Exclusive,
}
