using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

/// <summary>A record as a reader of the log sees it.</summary>
internal sealed record LoggedRecord(Lsn Lsn, RecordKind Kind, byte[] Body)
{
    public bool Equals(LoggedRecord? other) =>
        other is not null && Lsn == other.Lsn && Kind == other.Kind && Body.AsSpan().SequenceEqual(other.Body);

    public override int GetHashCode() => Lsn.GetHashCode();

    public override string ToString() => $"{Kind} of {Body.Length} bytes at {Lsn}";
}
