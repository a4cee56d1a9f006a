using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Cutting;

/// <summary>
/// Rewrites the content of a cut while it is copied. Whatever it writes has the length that was there, so that every record stays at its
/// place; pages get other checksums, and are chained anew. One thread.
/// </summary>
public interface ICutRewriting
{
    /// <summary>The hash that the cut states of the page before its first one, which is not in it.</summary>
    ulong PreviousHash { get; }

    /// <summary>Rewrites the body of one record.</summary>
    void Rewrite(RecordKind kind, Span<byte> body);

    /// <summary>Writes the three parts of a checkpoint as the cut is to have them.</summary>
    void Rewrite(CheckpointReader from, CheckpointWriter to);
}
