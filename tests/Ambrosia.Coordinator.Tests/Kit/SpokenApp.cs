using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests;

/// <summary>An app that a test speaks for, frame by frame; what the coordinator gives it is kept.</summary>
internal sealed class SpokenApp
{
    private readonly AppReader _reader;
    private readonly List<byte> _heard = [];

    /// <param name="build">It states this build, and what its methods execute; null: none.</param>
    /// <param name="token">It shows this; null: that of the node's app.</param>
    public SpokenApp(Node node, bool listens = true, uint version = 1, SpokenBuild? build = null, byte[]? token = null)
    {
        Session = node.Parts.NewSession(() => Wakes++);
        _reader = Session.NewReader();
        Send(new AppHello(1, 1, token ?? Node.Token, version, 0, "test", "test", "", "", 0, 1) { Build = build?.Id });
        if (build is not null) Answer = Send(Made.Frame(FrameType.BuildMethods, build.Methods));
        if (listens) Listen();
    }

    public AppSession Session { get; }

    /// <summary>What the pump is to do behind the hello.</summary>
    public ReadAnswer Answer { get; private set; }

    /// <summary>Every record that was delivered.</summary>
    public List<(RecordKind Kind, byte[] Body)> Records { get; } = [];

    /// <summary>The marks of the frames that held them, where one is asked for.</summary>
    public List<Lsn> Marks { get; } = [];

    /// <summary>The end of the last record that was delivered.</summary>
    public Lsn Given { get; private set; }

    public BecomePrimary? Asked { get; private set; }

    /// <summary>It says of each frame of records that they are executed; false: it keeps that to itself.</summary>
    public bool Reports { get; set; } = true;

    /// <summary>So often the coordinator's sender was told that there may be something for the app.</summary>
    public int Wakes { get; private set; }

    public ReadAnswer Send<T>(T frame) where T : IFramePayload<T> => Send(Made.Frame(frame));

    public ReadAnswer Send(byte[] bytes)
    {
        ReadAnswer answer = ReadAnswer.More;
        for (int at = 0; at < bytes.Length;)
        {
            Memory<byte> space = _reader.Space();
            int count = Math.Min(space.Length, bytes.Length - at);
            bytes.AsSpan(at, count).CopyTo(space.Span);
            at += count;
            answer = _reader.Received(count);
        }
        return answer;
    }

    /// <summary>Hands on what found no room before.</summary>
    public ReadAnswer Again() => _reader.Continue();

    public void Listen()
    {
        while (Session.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            _heard.AddRange(bytes.Span);
            Session.Taken();
        }
        byte[] all = [.. _heard];
        int at = 0;
        while (FrameReader.TryRead(all.AsSpan(at), 0, 1 << 26, checkPayload: false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            if (header.Type == FrameType.Deliver) Keep(payload);
            if (header.Type == FrameType.BecomePrimary) Asked = Protocol.Frames.BecomePrimary.Read(payload);
            at += size;
        }
        _heard.RemoveRange(0, at);
    }

    /// <summary>Executes what is there and becomes primary.</summary>
    public void BecomePrimary()
    {
        Listen();
        Send(new PrimaryReady(Asked!.Value.Position));
    }

    public void End()
    {
        Session.End("over");
        _reader.Dispose();
    }

    private void Keep(ReadOnlySpan<byte> payload)
    {
        DeliverHeader header = DeliverHeader.Read(payload);
        var records = new RecordReader(payload[DeliverHeader.Bytes..], header.First);
        while (records.Next()) Records.Add((records.Kind, records.Body.ToArray()));
        if (header.Mark != Lsn.Zero) Marks.Add(header.Mark);
        Given = records.End;
        if (Reports) Send(new ProcessedFrame(records.End));
    }
}
