using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Tools.Tests;

/// <summary>Makes random logs in which secrets stand wherever an app or a caller can write one, with the contract beside them.</summary>
internal sealed class SecretLog
{
    /// <summary>It is a part of each.</summary>
    public const string Secret = "s3cret";

    private const uint Unknown = 77;

    private readonly SimulatedRandom _random;
    private readonly LogMaker _log;
    private string? _also;
    private ulong _calls = 1, _tasks = 1;

    private SecretLog(string directory, ulong seed)
    {
        _random = new SimulatedRandom(seed);
        _log = LogMaker.Start(directory, options: LogMaker.Small with { SegmentBytes = 4 << 20 });
    }

    /// <param name="also">Stands in a message of which no contract says anything; null: there is none.</param>
    public static void Make(string directory, ulong seed, string? also = null)
    {
        var maker = new SecretLog(directory, seed) { _also = also };
        using (maker._log) maker.Write();
        Directory.CreateDirectory(Path.Combine(directory, "contracts"));
        File.WriteAllText(Path.Combine(directory, "contracts", "0123456789abcdef.json"), Manifest.Json);
    }

    private void Write()
    {
        _log.Begin();
        _log.Peer(1, "ada");
        _log.Commit();
        _log.Run(MessageKind.Fork, 1, Everything()); // whatever follows
        for (int i = _random.Next(20, 60); i > 0; i--)
        {
            WriteOne();
            if (_random.Next(3) == 0) _log.Commit();
        }
        _log.Run(MessageKind.Fork, 1, Message.Of(Unknown, (ref CborWriter to) => to.WriteString($"to {Name(0)}, as he said")));
        if (_also is { } also) _log.Run(MessageKind.Fork, 1, Message.Of(Unknown, (ref CborWriter to) => to.WriteString(also)));
        _log.Run(MessageKind.Impulse, 1, Message.Of(Manifest.Two, (ref CborWriter to) =>
        {
            to.WriteInt64(4);
            to.WriteString("no secret");
        }));
        _log.Mark();
    }

    private void WriteOne()
    {
        switch (_random.Next(11))
        {
            case 0: _log.Run(MessageKind.Fork, 1, [.. Enumerable.Range(0, _random.Next(1, 5)).Select(_ => Everything())]); break;
            case 1:
                _log.RunWith(Stack(), MessageKind.Failure, 1, Message.OfCall(Manifest.Answer, _calls++, Message.Arguments(Failure)));
                break;
            case 2: _log.Run(MessageKind.Fork, 1, Message.Of(Manifest.Raw, Bytes())); break;
            case 3: _log.Keyed(1, Message.OfKeyed(Manifest.Raw, Bytes(60), Bytes())); break;
            case 4: _log.Run(MessageKind.Result, 1, Message.OfCall(Manifest.Answer, _calls++, Message.Arguments(Order))); break;
            case 5: Request(); break;
            case 6:
                _log.Append(new NondetResultRecord(_tasks++, false, Message.Arguments((ref CborWriter to) => to.WriteString(Name()))));
                break;
            case 7: _log.Append(new NondetResultRecord(_tasks++, true, Message.Arguments(Failure))); break;
            case 8:
                var entry = new DigestEntry(new InstanceId("ada"), 3, 0xAB);
                _log.Append(new DigestRecord(new Lsn(4_096), [entry]) { Answers = new AnswerDigest(2, 5) });
                break;
            case 9: _log.Append(new StateHashRecord(new Lsn(4_096), 99)); break;
            default: Spanning(); break;
        }
    }

    private void Request()
    {
        byte[] message = Message.OfKeyed(Manifest.Two, Bytes(30), Message.Arguments((ref CborWriter to) =>
        {
            to.WriteInt64(_random.Next(100));
            to.WriteString("plain");
        }));
        _log.Append(new ClientRequestRecord(new ClientSessionId(new Epoch(1), 1), (ulong)_random.Next(1, 99), true, message));
    }

    private void Spanning()
    {
        if (_random.Next(4) != 0) return;
        _log.Commit();
        byte[] raw = [.. Enumerable.Range(0, 4_000).SelectMany(_ => Encoding.UTF8.GetBytes(Name()))];
        _log.Append(Message.Request(1, Manifest.Two, []) with { Message = Message.Of(Manifest.Raw, raw[..10_000]) });
    }

    private byte[] Everything() => Message.Of(Manifest.Everything, (ref CborWriter to) =>
    {
        to.WriteBoolean(true);
        to.WriteInt64(_random.Next(-128, 128));
        to.WriteUInt64(ulong.MaxValue);
        to.WriteDouble(_random.Next(1000) / 7.0);
        to.WriteDecimal(12.50m);
        to.WriteChar('x');
        to.WriteString(Name());
        if (_random.Next(2) == 0) to.WriteNull();
        else to.WriteString(Name());
        to.WriteBytes(Bytes());
        to.WriteDateTime(new DateTime(2026, 11, 21, 7, 0, 0, DateTimeKind.Utc));
        to.WriteDateTimeOffset(new DateTimeOffset(2026, 11, 21, 7, 0, 0, TimeSpan.FromHours(1)));
        to.WriteTimeSpan(TimeSpan.FromSeconds(90));
        to.WriteDateOnly(new DateOnly(2026, 11, 21));
        to.WriteTimeOnly(new TimeOnly(7, 30));
        to.WriteGuid(Guid.Parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"));
        to.WriteInt64(2);
        to.WriteArrayHeader(1);
        to.WriteInt64(1);
        to.WriteArrayHeader(1);
        to.WriteArrayHeader(2);
        to.WriteString(Name());
        to.WriteArrayHeader(1);
        to.WriteBoolean(false);
        to.WriteArrayHeader(2);
        to.WriteInt64(7);
        to.WriteNull();
        Order(ref to);
    });

    private void Order(ref CborWriter to)
    {
        to.WriteMapHeader(2);
        to.WriteUInt64(1);
        to.WriteInt64(_random.Next(1_000));
        to.WriteString("Name");
        to.WriteString(Name());
    }

    private void Failure(ref CborWriter to) =>
        new FailureInfo("Shop.Closed", $"{Name()} is not here", new FailureInfo("Inner", Name())).Write(ref to);

    private byte[] Stack()
    {
        byte[] block = new byte[FailureStack.StackBytesMax];
        var to = new PayloadWriter(block);
        new FailureStack(0, $"at Shop.Open({Name()})").Write(ref to);
        return block[..to.Written];
    }

    private string Name() => Name(_random.Next(20));

    private static string Name(int number) => $"{Secret} of {(char)('A' + number)}";

    private byte[] Bytes(int lengthMax = 200)
    {
        byte[] secret = Encoding.UTF8.GetBytes(Name());
        return [.. secret, .. Enumerable.Range(0, _random.Next(lengthMax - secret.Length)).Select(_ => (byte)_random.Next(256))];
    }
}
