// Either end of a stream, or both at once. A round is sent as fast as the receiver's coordinator takes it: a handler sends a bounded burst
// and then calls itself to go on, so that it never keeps its own input waiting. Several of these calls to itself are under way at once:
// each has to be durable in the sender's log before it runs, and one alone would measure that wait.
// The lines carry the monotonic clock, which is one for all processes of a machine. Nothing else depends on it: not state, not output.
using System.Buffers.Binary;
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// The end of a stream. It prints <c>begun ROUND LANE TICKS</c> before a round's first message, and as receiver <c>half ROUND LANE</c> and
/// <c>done ROUND LANE COUNT BYTES DISORDER TICKS</c>. A message that is lost keeps that line away; one that is
/// doubled or swapped is disorder.
/// </summary>
public sealed partial class StreamEnd : Immortal<IStreamEndProxy>, IStreamEnd
{
    private const int BurstBytes = 4 * 1024 * 1024;
    private const int BurstsUnderWay = 4;
    private const int LaneShift = 48;
    private const int HeldPieceBytes = 1 << 20;

    /// <summary>The driver's thread alone uses it.</summary>
    private static readonly MeterCollector s_collector = new();

    /// <summary>By lane; those on which nothing came yet are null.</summary>
    private Lane?[] _lanes = [];
    private SendingLane[] _sending = [];
    private int _next;
    private int _unfinished;
    private long _messages;
    private long _turn;
    private int _messageBytes;
    private List<byte[]> _held = [];

    /// <summary>Content that no message depends on but its first 8 bytes.</summary>
    [NotState]
    private byte[]? _buffer;

    [NotState]
    private Ticker? _ticker;

    public void Take(ReadOnlySpan<byte> message)
    {
        ulong head = BinaryPrimitives.ReadUInt64LittleEndian(message);
        Lane lane = _lanes[head >> LaneShift]!;
        lane.Bytes += message.Length;
        if ((head & ((1UL << LaneShift) - 1)) != ++lane.Taken) lane.Disorder++;
        if (lane.Taken == lane.Next) Reached((int)(head >> LaneShift), lane);
    }

    private static void Reached(int number, Lane lane)
    {
        if (lane.Taken == lane.Expected)
            Console.WriteLine($"done {lane.Round} {number} {lane.Taken} {lane.Bytes} {lane.Disorder} {Stopwatch.GetTimestamp()}");
        else Console.WriteLine($"half {lane.Round} {number}");
        lane.Next = lane.Expected;
    }

    public void GoOn()
    {
        if (_buffer?.Length != _messageBytes) _buffer = new byte[_messageBytes];
        for (long left = Math.Max(1, BurstBytes / _messageBytes); left > 0 && _unfinished > 0; _next = (_next + 1) % _sending.Length)
            left -= Send(_sending[_next], Math.Min(left, _turn));
        if (_unfinished > 0) thisProxy.GoOnFork();
    }

    private long Send(SendingLane lane, long most)
    {
        long first = lane.Sent, last = Math.Min(_messages, first + most);
        if (first == last) return 0;
        IStreamEndProxy receiver = GetProxy<IStreamEnd>(lane.Receiver);
        for (long number = first + 1; number <= last; number++)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(_buffer, lane.Bits | (ulong)number);
            receiver.TakeFork(_buffer);
        }
        lane.Sent = last;
        if (last == _messages) _unfinished--;
        return last - first;
    }

    public void Begin(int round, int lane, long messages)
    {
        if (lane >= _lanes.Length) Array.Resize(ref _lanes, lane + 1);
        // A message of the round before that comes only now would be in this one's way, and is counted there.
        _lanes[lane] = new Lane { Round = round, Expected = (ulong)messages, Next = Math.Max(1, (ulong)messages / 2) };
    }

    public void Stream(int round, long messages, int bytes, int turn, string lanes)
    {
        string[] each = lanes.Split(',');
        _sending = new SendingLane[each.Length];
        (_messages, _turn, _messageBytes, _next, _unfinished) = (messages, each.Length == 1 ? messages : turn, bytes, 0, each.Length);
        for (int i = 0; i < each.Length; i++)
        {
            string[] words = each[i].Split(':');
            int lane = int.Parse(words[0]);
            _sending[i] = new SendingLane { Receiver = words[1], Bits = (ulong)lane << LaneShift };
            Console.WriteLine($"begun {round} {lane} {Stopwatch.GetTimestamp()}");
            IStreamEndProxy receiver = GetProxy<IStreamEnd>(words[1]);
            receiver.BeginFork(round, lane, messages);
        }
        for (int i = 0; i < BurstsUnderWay; i++) thisProxy.GoOnFork();
    }

    public void Hold(long bytes)
    {
        _held = [];
        for (long left = bytes; left > 0; left -= HeldPieceBytes) _held.Add(new byte[Math.Min(left, HeldPieceBytes)]);
        Console.WriteLine($"holds {bytes}");
    }

    public void Poke(int number) => Console.WriteLine($"poked {number} {Stopwatch.GetTimestamp()}");

    public void Reach(int number, string receiver)
    {
        IStreamEndProxy other = GetProxy<IStreamEnd>(receiver);
        other.PokeFork(number);
    }

    public void Tick(long sent) => _ticker?.Handled(sent);

    protected override void BecomingPrimary()
    {
        IStreamEndProxy self = thisProxy;
        Console.WriteLine($"primary {Stopwatch.GetTimestamp()}");
        _ticker = new Ticker(self.TickFork);
        Driver.Listen(words => Obey(self, _ticker, words));
    }

    private static void Obey(IStreamEndProxy self, Ticker ticker, string[] words)
    {
        switch (words)
        {
            case ["stream", string round, string messages, string bytes, string turn, string lanes]:
                self.StreamFork(int.Parse(round), long.Parse(messages), int.Parse(bytes), int.Parse(turn), lanes);
                break;
            case ["hold", string bytes]: self.HoldFork(long.Parse(bytes)); break;
            case ["poke", string number]: self.PokeFork(int.Parse(number)); break;
            case ["reach", string number, string receiver]: self.ReachFork(int.Parse(number), receiver); break;
            case ["tick", string micros]: ticker.Start(TimeSpan.FromMicroseconds(long.Parse(micros))); break;
            case ["tickless"]: ticker.Stop(); break;
            case ["collect", string micros]: s_collector.Start(TimeSpan.FromMicroseconds(long.Parse(micros))); break;
            case ["collectless"]: s_collector.Stop(); break;
        }
    }
}
