namespace Ambrosia;

/// <summary>What the builder asks of an awaiter: everything else that is awaited inside an immortal is refused.</summary>
internal interface ICallAwaiter
{
    /// <summary>Never null when the awaiter is not complete.</summary>
    Source? Source { get; }
}
