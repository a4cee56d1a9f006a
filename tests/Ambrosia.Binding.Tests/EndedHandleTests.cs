using System.Reflection;
using Ambrosia.Protocol.Records;
using Ambrosia.State;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Handles of the binding that the state keeps when what they stand for is over: behind a restore each public member does what it does
/// before it.
/// </summary>
public sealed class EndedHandleTests
{
    private const BindingFlags Fields = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    private static FakeCoordinator Ended()
    {
        var begun = new FakeCoordinator(ImmortalDefinition.Of<Holder>());
        begun.Welcome();
        begun.DeliverWith(0, 1000, FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"), Fork(1));
        // All that was begun is ended by its own record; the timers are due in the order in which they were set.
        for (int round = 0; round < 3; round++)
            foreach (string line in begun.Said.Where(static line => line.Contains(" due ", StringComparison.Ordinal)).ToArray())
            {
                string[] words = line.Split(' ');
                long due = long.Parse(words[3], System.Globalization.CultureInfo.InvariantCulture);
                ulong timer = ulong.Parse(words[1], System.Globalization.CultureInfo.InvariantCulture);
                if (due < 5000) begun.DeliverWith(0, due, Fired(timer, due));
            }
        begun.Deliver(Fork(2), Result(2, 1, 1, 12), Failed(1, 2), RecordKinds.EncodeWhole(new ForgetRecord(2, Guid.NewGuid())),
            Gave(1, 5), RecordKinds.EncodeWhole(new NondetResultRecord(2, true, Failure())), Gave(3, 4));
        Assert.Null(begun.Session.End);
        return begun;
    }

    private static byte[] Failure()
    {
        var encoded = new System.Buffers.ArrayBufferWriter<byte>();
        Failures.FailureCodec.Write(encoded, new FormatException("no number"));
        return encoded.WrittenSpan.ToArray();
    }

    private static byte[] Failed(uint origin, ulong call) => Run(Protocol.Runs.MessageKind.Failure, origin, (2, call, Failure()));

    private static FakeCoordinator Restored(FakeCoordinator from)
    {
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Holder>());
        restored.Welcome(from.Image, from.Next.Value);
        return restored;
    }

    [Fact]
    public void EveryMember_OfEveryEndedHandle_DoesBehindARestoreWhatItDoesBefore()
    {
        FakeCoordinator before = Ended();
        before.Deliver(Mark(bound: 1));
        FakeCoordinator behind = Restored(before);
        foreach (FakeCoordinator each in new[] { before, behind })
        {
            each.Said.Clear();
            each.DeliverWith(0, 9000, Fork(3));
            Assert.Null(each.Session.End);
        }

        List<string> seen = before.Immortal<Holder>().Seen;
        Assert.True(seen.Count > 200, $"{seen.Count} members were used");
        Assert.DoesNotContain(seen, static line => line.Contains("without a session", StringComparison.Ordinal));
        Assert.Equal(seen, behind.Immortal<Holder>().Seen);
        Assert.Equal(before.Said.Where(static line => !line.StartsWith("destination", StringComparison.Ordinal)),
            behind.Said.Where(static line => !line.StartsWith("destination", StringComparison.Ordinal)));
    }

    [Fact]
    public void Stop_OfATimerThatWasStoppedBeforeTheCheckpoint_LetsItBeSetAgain()
    {
        FakeCoordinator before = Ended();
        before.Deliver(Mark(bound: 1));
        FakeCoordinator behind = Restored(before);
        behind.Deliver(Fork(4));

        Assert.Null(behind.Session.End);
        Assert.Equal("restarted", behind.Immortal<Holder>().Seen[^1]);
    }

    /// <summary>A class of the binding that the state may keep, and that the test above does not use, is found here.</summary>
    [Fact]
    public void Handles_ThatTheStateMayKeep_AreAllUsed()
    {
        IEnumerable<Type> used = Ended().Immortal<Holder>().Kinds
            .SelectMany(static type => new[] { type, type.BaseType! })
            .Select(static type => type.IsGenericType ? type.GetGenericTypeDefinition() : type);
        IEnumerable<Type> may = typeof(Immortal).Assembly.GetExportedTypes().Where(static type => !type.IsInterface && IsHandle(type));
        // Awaiters and builders are the compiler's; the walk takes results through them. A finished call is the generated code's for one
        // call of it, and options stand for nothing that ends.
        Type[] others =
        [
            typeof(CallAwaiter), typeof(CallAwaiter<>), typeof(CallBuilder), typeof(CallBuilder<>), typeof(FinishedCall),
            typeof(NondetOptions),
        ];
        Assert.Empty(may.Except(used).Except(others));
    }

    private static bool IsHandle(Type type) =>
        typeof(IImagePart).IsAssignableFrom(type) || type.IsDefined(typeof(ImageShapeAttribute), inherit: true)
        || type.IsValueType && type.GetFields(Fields).Any(static field => typeof(IImagePart).IsAssignableFrom(field.FieldType));
}
