using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// What is set aside for a later version is refused by its name, so that nobody takes a newer build's bytes for damage; numbers that are
/// set aside for nothing are only unknown.
/// </summary>
public sealed class ReservedTests
{
    [Theory]
    [InlineData(64, "CellFork")]
    [InlineData(65, "CellCall")]
    [InlineData(66, "CellImpulse")]
    [InlineData(67, "CellClientRequest")]
    [InlineData(68, null)]
    [InlineData(63, null)]
    [InlineData(9, null)]
    public void Run_ToACell_IsRefusedByName(byte kind, string? name)
    {
        var run = new byte[RunHeader.Bytes + 2];
        new RunHeader((MessageKind)kind, Keyed: false, Shard: 0, Peer: 0, First: 1, Count: 1, ExtensionBytes: 0, Hash: 0).Write(run);
        AssertRefused("P3.2", name, "does not know calls to cells", Refusal(() => { RunHeader.Read(run); }));
    }

    [Theory]
    [InlineData(16, "NondetResults")]
    [InlineData(18, null)]
    public void Record_OfALaterVersion_IsRefusedByName(byte kind, string? name)
    {
        byte[] record = [1, 0, 0, 0, kind, 0, 0, 0, 0xF6];
        ProtocolViolation refusal = Refusal(() => { new RecordReader(record, new Lsn(64)).Next(); });
        AssertRefused("L5.1", name, "knows no such records", refusal);
        Assert.Equal(new Lsn(64), refusal.Lsn);
    }

    private static ProtocolViolation Refusal(Action decode) => Assert.Throws<ProtocolViolation>(decode);

    private static void AssertRefused(string section, string? name, string why, ProtocolViolation refusal)
    {
        Assert.Equal(section, refusal.Section);
        if (name is null)
        {
            Assert.DoesNotContain(why, refusal.Message, StringComparison.Ordinal);
            return;
        }
        Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
        Assert.Contains(why, refusal.Message, StringComparison.Ordinal);
    }
}
