using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// The app of a view stops before any message, shows its state there, and goes on as if it had not stopped (protocol P5.24).
/// </summary>
public sealed class ViewTests
{
    private const uint Deposit = 1, BalanceOf = 2, BalanceAt = 3, Break = 6;

    /// <summary>A log in frames as its pages would be, and the places at which an app executes something.</summary>
    private sealed class PlannedLog
    {
        public List<(Lsn First, byte[][] Records, long TimeUs)> Frames { get; } = [];

        public List<MessagePlace> Places { get; } = [];

        public Lsn End { get; private set; } = new(64);

        public void Add(params (byte[] Record, uint Messages)[] records)
        {
            Frames.Add((End, [.. records.Select(static each => each.Record)], 1_000_000 * (Frames.Count + 1)));
            foreach ((byte[] record, uint messages) in records)
            {
                for (uint index = 0; index < messages; index++) Places.Add(new MessagePlace(End, index));
                End += record.Length;
            }
        }
    }

    private static PlannedLog Random(Random random)
    {
        var log = new PlannedLog();
        log.Add((FirstStart(), 1), (Peer(1, "bank2"), 0), (Peer(2, "bank3"), 0));
        ulong asked = 0, answered = 0;
        for (int frame = random.Next(2, 6); frame > 0; frame--)
        {
            var records = new List<(byte[], uint)>();
            for (int left = random.Next(1, 5); left > 0; left--)
            {
                uint count = (uint)random.Next(1, 6);
                switch (random.Next(6))
                {
                    case 0:
                        (uint, ulong, byte[])[] calls = Messages(count, _ => (BalanceAt, ++asked + 100, Cbor.Of("bank3", "ann")));
                        records.Add((Run(MessageKind.Call, 1, calls), count));
                        break;
                    case 1 when answered < asked:
                        records.Add((Result(BalanceOf, ++answered, 2, random.Next(100)), 1));
                        break;
                    case 2:
                        records.Add((Run(MessageKind.Failure, 2, (BalanceOf, 10_000, Cbor.Of("T", "m", null))), 1)); // nobody waits for it
                        break;
                    case 3:
                        records.Add((Request(0, null, Deposit, "eve", random.Next(10)), 1));
                        records.Add((RecordKinds.EncodeWhole(new TrimRecord([new TrimPosition(1, 1)])), 0));
                        break;
                    case 4:
                        records.Add((Fork(Break, "on purpose"), 1));
                        records.Add((Mark(), 0)); // a view takes no checkpoint
                        break;
                    default:
                        (uint, ulong, byte[])[] forks = Messages(count, i => (Deposit, 0ul, Cbor.Of($"a{i % 3}", random.Next(50))));
                        records.Add((Run(MessageKind.Fork, 1, forks), count));
                        break;
                }
            }
            log.Add([.. records]);
        }
        return log;
    }

    private static (uint, ulong, byte[])[] Messages(uint count, Func<int, (uint, ulong, byte[])> make) =>
        [.. Enumerable.Range(0, (int)count).Select(make)];

    private static FakeCoordinator NewView()
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        coordinator.Welcome(isView: true);
        coordinator.Said.Clear();
        return coordinator;
    }

    /// <summary>Gives frames as a coordinator does: none to an app that has stopped. False: the log's end was reached.</summary>
    private static bool RunOn(FakeCoordinator coordinator, PlannedLog log, ref int frame)
    {
        while (!coordinator.Session.View!.IsStopped)
        {
            if (frame == log.Frames.Count) return false;
            (Lsn first, byte[][] records, long time) = log.Frames[frame++];
            Assert.Equal(first, coordinator.Next);
            coordinator.DeliverWith(0, time, records);
        }
        return true;
    }

    private static byte[] ImageAt(FakeCoordinator coordinator, MessagePlace place)
    {
        coordinator.Send(new Look(place, LookFlags.Image));
        return coordinator.Image;
    }

    private static IEnumerable<string> Emitted(FakeCoordinator of) => of.Said.Where(
        static line => line.StartsWith("call ", StringComparison.Ordinal) || line.StartsWith("fork ", StringComparison.Ordinal)
            || line.StartsWith("result ", StringComparison.Ordinal) || line.StartsWith("failure ", StringComparison.Ordinal));

    [Fact]
    public void Place_ReachedStraightOrByStepsOrBehindOthers_HasOneState()
    {
        for (int seed = 0; seed < TestScale.Rounds(300); seed++)
        {
            var random = new Random(seed);
            PlannedLog log = Random(random);
            var states = new Dictionary<MessagePlace, byte[]>();
            FakeCoordinator steps = NewView();
            int given = 0;
            steps.Send(new Look(default, LookFlags.Next));
            while (RunOn(steps, log, ref given))
            {
                MessagePlace at = SeenLast(steps);
                states[at] = ImageAt(steps, at);
                steps.Send(new Look(default, LookFlags.Next));
                steps.Send(FrameType.Go, []);
            }
            Assert.Equal(log.Places.Skip(1), states.Keys); // before the first there is no state

            foreach (MessagePlace place in states.Keys)
            {
                FakeCoordinator straight = NewView();
                int frame = 0;
                if (random.Next(2) == 0) // over another place before it
                {
                    straight.Send(new Look(log.Places[random.Next(log.Places.IndexOf(place))], LookFlags.None));
                    Assert.True(RunOn(straight, log, ref frame));
                }
                bool stands = straight.Session.View!.IsStopped;
                straight.Send(new Look(place, random.Next(2) == 0 ? LookFlags.Image : LookFlags.Image | LookFlags.Times));
                if (stands) straight.Send(FrameType.Go, []);
                Assert.True(RunOn(straight, log, ref frame), $"seed {seed}, {place}");
                Assert.Equal(place, SeenLast(straight));
                Assert.True(states[place].AsSpan().SequenceEqual(straight.Image), $"seed {seed}: two states at {place}");
            }
        }
    }

    [Fact]
    public void Log_ExecutedInStepsOrByALivingApp_LeadsToTheSameStateAndCalls()
    {
        for (int seed = 1_000; seed < 1_000 + TestScale.Rounds(300); seed++)
        {
            PlannedLog log = Random(new Random(seed));
            var lives = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
            lives.Welcome();
            FakeCoordinator view = NewView();
            int given = 0;
            view.Send(new Look(default, LookFlags.Next));
            while (RunOn(view, log, ref given))
            {
                view.Send(new Look(default, LookFlags.Next));
                view.Send(FrameType.Go, []);
            }
            foreach ((_, byte[][] records, long time) in log.Frames) lives.DeliverWith(0, time, records);
            byte[] last = ImageAt(view, default);
            using var expected = lives.Session.Runtime!.WriteImage();
            Assert.True(expected.ToArray().AsSpan().SequenceEqual(last), $"seed {seed}");
            Assert.Equal(Emitted(lives), Emitted(view));
            Assert.DoesNotContain($"image at {log.End}", view.Said.Take(view.Said.Count - 1));
        }
    }

    [Fact]
    public void Times_ThatAreAskedFor_AreThoseSinceTheStopBefore()
    {
        var log = new PlannedLog();
        log.Add((FirstStart(), 1), (Peer(1, "bank2"), 0), (Fork(Deposit, "ann", 1), 1));
        (uint, ulong, byte[])[] calls =
        [
            (BalanceOf, 101, Cbor.Of("ann")), (BalanceOf, 102, Cbor.Of("ann")), (BalanceAt, 103, Cbor.Of("bank3", "ann")),
            (BalanceOf, 104, Cbor.Of("ann")),
        ];
        log.Add((Run(MessageKind.Call, 1, calls), 4));
        log.Add((Run(MessageKind.Failure, 1, (BalanceOf, 10_000, Cbor.Of("T", "m", null))), 1), (Fork(Deposit, "ann", 2), 1));
        FakeCoordinator view = NewView();
        int given = 0;
        view.Send(new Look(log.Places[2], LookFlags.Times));
        Assert.True(RunOn(view, log, ref given));
        Assert.Equal([(0, 1, 100), (Deposit, 1, 100)], Times(view));

        view.Send(new Look(log.Places[^1], LookFlags.Times));
        view.Send(FrameType.Go, []);
        Assert.True(RunOn(view, log, ref given));
        Assert.Equal([(0, 1, 100), (BalanceOf, 3, 200), (BalanceAt, 1, 100)], Times(view)); // neighbours are measured at once

        view.Send(new Look(default, LookFlags.Times));
        Assert.Empty(view.Times);
    }

    private static IEnumerable<(uint Method, ulong Messages, ulong Nanoseconds)> Times(FakeCoordinator view) =>
        view.Times.Select(static each => (each.Method, each.Messages, each.Nanoseconds));

    [Fact]
    public void Place_ThatTheLogDoesNotHave_IsTheOneBehind()
    {
        var log = new PlannedLog();
        log.Add((FirstStart(), 1), (Peer(1, "bank2"), 0), (Fork(Deposit, "ann", 1), 1), (Fork(Deposit, "ann", 2), 1));
        FakeCoordinator view = NewView();
        int given = 0;
        view.Send(new Look(new MessagePlace(log.Places[1].Record, 7), LookFlags.None));
        Assert.True(RunOn(view, log, ref given));
        Assert.Equal(log.Places[2], SeenLast(view));
        Assert.Equal(1, view.Immortal<Bank>().Balance("ann"));

        view.Send(new Look(new MessagePlace(log.Places[2].Record + 1, 0), LookFlags.None));
        view.Send(FrameType.Go, []);
        Assert.Equal(log.End, SeenLast(view).Record);
    }

    [Fact]
    public void Deliver_ToAnAppThatStands_IsRefused()
    {
        FakeCoordinator view = NewView();
        view.Send(new Look(default, LookFlags.None));
        view.Deliver(FirstStart());
        Assert.Equal(GoodbyeCode.ProtocolViolation, view.Session.End?.Code);
    }

    [Fact]
    public void Look_ToAnAppThatLives_IsRefused()
    {
        FakeCoordinator lives = Started<Bank>();
        lives.Send(new Look(default, LookFlags.None));
        Assert.Equal(GoodbyeCode.ProtocolViolation, lives.Session.End?.Code);
    }

    [Fact]
    public void Image_BeforeTheFirstRecord_IsSaidNotToBe()
    {
        FakeCoordinator view = NewView();
        view.Send(new Look(default, LookFlags.Image));
        Assert.Contains(view.Said, static line => line.StartsWith("waiting for", StringComparison.Ordinal));
    }

    private static MessagePlace SeenLast(FakeCoordinator of)
    {
        string line = of.Said.Last(static each => each.StartsWith("seen ", StringComparison.Ordinal));
        Assert.True(MessagePlace.TryParse(line[5..], out MessagePlace place));
        return place;
    }
}
