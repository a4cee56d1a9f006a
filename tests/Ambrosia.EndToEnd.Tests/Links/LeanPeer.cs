using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using CRA.Authentication;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A peer of a real coordinator that is two counters and two hashes: it makes numbered calls, and expects that the first item of what comes
/// counts 1, 2, 3, … and comes exactly from where its hello says. Many fit into one process. Owns what of the conversation outlives a
/// connection; connections are the caller's. One thread at a time.
/// </summary>
internal sealed class LeanPeer(Cluster cluster, string hub, string name, int number, Chance chance)
{
    private const uint CountMethod = 1;

    private readonly Guid _uuid = Guid.NewGuid();
    private readonly ArrayBufferWriter<byte> _messages = new();

    /// <summary>By how many calls came before it: where each begins in <see cref="_messages"/>, and the channel's hash there.</summary>
    private readonly List<(int At, ChannelHasher Hash)> _made = [default];

    private ChannelHasher _receivedHash;
    private ulong _nonce;

    public string Name => name;

    /// <summary>Of the hub's outputs.</summary>
    public ulong Received { get; private set; }

    /// <summary>Of our calls, at the hub and durable.</summary>
    public ulong Acknowledged { get; private set; }

    public ulong Made => (ulong)_made.Count - 1;

    /// <summary>What its hellos say that it takes.</summary>
    public uint MessageBytesMax { get; set; } = SizeLimits.MessageBytesMaxDefault;

    /// <summary>Calls number n of the hub with n.</summary>
    public void Make(int calls)
    {
        Span<byte> arguments = stackalloc byte[32];
        for (int i = 0; i < calls; i++)
        {
            ulong next = Made + 1;
            var writer = new CborWriter(arguments);
            writer.WriteInt64(number);
            writer.WriteUInt64(next);
            int body = Varint.SizeOf(CountMethod) + Varint.SizeOf(next) + (int)writer.Written;
            Span<byte> to = _messages.GetSpan(Varint.BytesMax + body);
            int at = Varint.Write(to, (ulong)body);
            at += Varint.Write(to[at..], CountMethod);
            at += Varint.Write(to[at..], next);
            arguments[..(int)writer.Written].CopyTo(to[at..]);
            at += (int)writer.Written;
            ChannelHasher hash = _made[^1].Hash;
            hash.Append(MessageKind.Call, to[..at]);
            _messages.Advance(at);
            _made.Add((_messages.WrittenCount, hash));
        }
    }

    /// <summary>A run of our calls, as it goes into a frame.</summary>
    public byte[] Run(ulong first, int count)
    {
        (int from, int to) = (_made[(int)first - 1].At, _made[(int)first - 1 + count].At);
        byte[] run = new byte[RunHeader.Bytes + to - from];
        new RunHeader(MessageKind.Call, false, 0, 0, first, (uint)count, 0, _made[(int)first - 1 + count].Hash.Hash).Write(run);
        _messages.WrittenSpan[from..to].CopyTo(run.AsSpan(RunHeader.Bytes));
        return run;
    }

    /// <summary>A connection that the hub knows the secret of and nothing else.</summary>
    /// <exception cref="SocketException">The hub is not there.</exception>
    public RawLink Dial(int receiveBytes = 0) => new(
        StartTests.AddressOf(cluster, hub), File.ReadAllBytes(Path.Combine(cluster.Root, "catalog", DirectoryCatalog.SecretName)),
        chance.Bytes(LinkAuthentication.NonceBytes), receiveBytes);

    /// <summary>The hello as of now, with a nonce of its own.</summary>
    public Hello NextHello() => new(
        1, 1, _uuid, new InstanceId(name), "r0", new Epoch(1), ++_nonce, hub, Guid.Empty, new Epoch(0), Received, _receivedHash.Hash,
        Acknowledged, new Epoch(0), 0, MessageBytesMax);

    /// <summary>Hellos both ways; from here on the hub sends from where our hello said.</summary>
    public void Open(RawLink link, Hello ours)
    {
        link.Send(ours);
        Hello theirs = Hello.Read(link.Await(FrameType.Hello));
        Assert.InRange(theirs.Durable, Acknowledged, Made);
        Assert.Equal(_made[(int)theirs.Durable].Hash.Hash, theirs.Hash);
        Assert.True(theirs.Trimmed <= Received, $"{name}: the hub dropped {theirs.Trimmed} of its calls, {Received} had come");
        Acknowledged = theirs.Durable;
        _nonce = Math.Max(_nonce, theirs.Nonce);
        link.Send(FrameType.Ready, []);
    }

    /// <summary>What came, if it is about calls.</summary>
    /// <exception cref="InvalidOperationException">The hub has sent what it must not.</exception>
    public void Take(FrameType type, byte[] payload)
    {
        switch (type)
        {
            case FrameType.Run: TakeRun(RunView.ReadWhole(payload, MessageBytesMax)); break;
            case FrameType.Ack: Acknowledged = Math.Max(Acknowledged, Ack.Read(payload).Durable); break;
            case FrameType.Goodbye: throw new SocketException((int)SocketError.ConnectionReset);
        }
        if (Acknowledged > Made) throw new InvalidOperationException($"{name}: {Acknowledged} calls acknowledged of {Made}");
    }

    private void TakeRun(RunView run)
    {
        if (run.Header.First != Received + 1)
            throw new InvalidOperationException($"{name}: a run begins at {run.Header.First} where {Received + 1} is next");
        _receivedHash.Append(run.Header.Kind, run.Messages);
        if (run.Header.Hash != _receivedHash.Hash)
            throw new InvalidOperationException($"{name}: the channel's hash differs behind {run.Header.Last}");
        var each = new MessageReader(run);
        while (each.Next())
        {
            ulong found = new CborReader(each.Arguments).ReadUInt64();
            if (found != ++Received) throw new InvalidOperationException($"{name}: {found} came where {Received} was next");
        }
    }

    public Ack NextAck() => new(Received, new Epoch(0), 0);
}
