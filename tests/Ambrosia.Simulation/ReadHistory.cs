using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Simulation;

/// <summary>
/// What the readers of one instance's log were given, of all replicas and of all times: two that read the same position must have read the
/// same there, at the same time, and gone on to the same position (I12).
/// </summary>
internal sealed class ReadHistory(InstanceId instance)
{
    /// <summary>By position; above 255: nobody has read it.</summary>
    private ushort[] _bytes = [];
    private readonly Dictionary<Lsn, long> _times = [];
    private readonly Dictionary<Lsn, Lsn> _successors = [];

    /// <summary>One session of an app.</summary>
    public sealed class Reader(ReadHistory history)
    {
        private Lsn? _end;
        private Lsn _next;

        /// <summary>What differs from what another reader was given; null: nothing.</summary>
        public string? Read(in DeliverHeader header, long length, ReadOnlySpan<byte> records)
        {
            string? why = history._times.TryAdd(header.First, header.TimeUs) || history._times[header.First] == header.TimeUs
                ? null : $"the time at {header.First} is {header.TimeUs}, another reader had {history._times[header.First]}";
            if (_end is { } before && !history._successors.TryAdd(before, header.First) && history._successors[before] != header.First)
                why = $"{header.First} follows on {before}, another reader had {history._successors[before]}";
            _next = header.First;
            _end = header.First + length;
            return why is null ? Continue(records) : $"{history.Instance}: {why}";
        }

        /// <summary>More of a record that is longer than a page.</summary>
        public string? Continue(ReadOnlySpan<byte> records)
        {
            foreach (byte b in records)
            {
                ref ushort known = ref history.At(_next);
                if (known <= byte.MaxValue && known != b)
                    return $"{history.Instance}: the byte at {_next} is {b:x2}, another reader had {known:x2}";
                known = b;
                _next += 1;
            }
            return null;
        }
    }

    private InstanceId Instance => instance;

    public Reader NewReader() => new(this);

    private ref ushort At(Lsn position)
    {
        int at = checked((int)position.Value), known = _bytes.Length;
        if (at >= known)
        {
            Array.Resize(ref _bytes, Math.Max(at + 1, 2 * known));
            _bytes.AsSpan(known).Fill(ushort.MaxValue);
        }
        return ref _bytes[at];
    }
}
