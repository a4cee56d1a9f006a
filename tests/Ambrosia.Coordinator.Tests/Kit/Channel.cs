using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The oracle of one channel: every message with its kind, and the position after each, hashed message by message.</summary>
internal sealed class Channel
{
    public List<(MessageKind Kind, byte[] Bytes)> Messages { get; } = [];

    /// <summary>Positions[n] is the place after n messages.</summary>
    public List<ChannelPosition> Positions { get; } = [default];

    public ulong Count => (ulong)Messages.Count;

    public static Channel Random(SimulatedRandom random, int count, int argumentBytesMax = 40)
    {
        var channel = new Channel();
        MessageKind kind = random.Pick(Made.Numbered);
        for (int i = 0; i < count; i++)
        {
            if (random.Chance(25)) kind = random.Pick(Made.Numbered);
            channel.Add(kind, Made.Message(kind, (ulong)i + 1, random.Next(argumentBytesMax)));
        }
        return channel;
    }

    public void Add(MessageKind kind, byte[] message)
    {
        var hasher = new ChannelHasher(Positions[^1].Hash, Positions[^1].LastKind);
        hasher.Append(kind, message);
        Messages.Add((kind, message));
        Positions.Add(new ChannelPosition(Count, hasher.Hash, kind));
    }

    /// <summary>The messages from <paramref name="from"/> on, cut anyhow into runs of one kind as an app sends them.</summary>
    public IEnumerable<byte[]> RunsFrom(ulong from, SimulatedRandom random)
    {
        for (int at = (int)from; at < Messages.Count;)
        {
            MessageKind kind = Messages[at].Kind;
            int count = 1, countMax = random.Next(1, 8);
            while (count < countMax && at + count < Messages.Count && Messages[at + count].Kind == kind) count++;
            yield return Made.Run(kind, 0, 0, [.. Messages.Skip(at).Take(count).Select(static m => m.Bytes)],
                random.Chance(20) ? Made.Extension(random.Next(30)) : null);
            at += count;
        }
    }

    /// <summary>The run of messages first … last (from 1) as it stands on a link; they are of one kind.</summary>
    public byte[] LinkRun(ulong first, ulong last, byte[]? extensions = null) => Made.Run(
        Messages[(int)first - 1].Kind, first, Positions[(int)last].Hash,
        [.. Messages.Skip((int)first - 1).Take((int)(last - first + 1)).Select(static m => m.Bytes)], extensions);
}
