using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Inspection.Cuts;

/// <summary>
/// Counts and hashes what an app emits, by whom it goes to, whatever runs it is packed into. Two builds that emit the same have the same
/// sums. One thread.
/// </summary>
internal sealed class EmissionTally
{
    private readonly SortedDictionary<string, (ulong Count, ulong Hash)> _sums = new(StringComparer.Ordinal);

    /// <summary>The sums so far.</summary>
    public IReadOnlyDictionary<string, EmittedSum> Sums =>
        _sums.ToDictionary(static each => each.Key, static each => new EmittedSum(each.Value.Count, $"{each.Value.Hash:x16}"));

    /// <summary>Adds what was emitted next.</summary>
    /// <exception cref="InvalidOperationException">It was more than was kept.</exception>
    public void Add(ViewedEmissions emitted)
    {
        if (emitted.Missing.Count > 0)
            throw new InvalidOperationException("one record has made more calls than a view keeps, so they cannot be summed up");
        foreach (ViewedRun run in emitted.Runs)
            for (var cursor = new EmissionCursor([run]); cursor.Is; cursor.Next()) Add(run.To, cursor);
    }

    private void Add(InstanceId? to, EmissionCursor message)
    {
        string name = to?.ToString() ?? "";
        (ulong count, ulong hash) = _sums.GetValueOrDefault(name);
        ReadOnlySpan<byte> kind = [(byte)message.Kind];
        hash = to is null ? unchecked(hash + ChannelHash.Append(ChannelHash.Append(0, kind), message.Whole))
            : ChannelHash.Append(ChannelHash.Append(hash, kind), message.Whole);
        _sums[name] = (count + 1, hash);
    }
}
