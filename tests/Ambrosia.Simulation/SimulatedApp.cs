using Ambrosia.Coordinator;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// An app process and its channel to the coordinator: the real binding on one side, the real session on the other, bytes between them.
/// A dead app's bytes still arrive; the channel ends when they have.
/// </summary>
internal sealed class SimulatedApp
{
    private const int ChannelBytesMax = 256 * 1024;

    private readonly OnBytes deliver;
    private readonly AppSession session;
    private readonly AppReader reader;
    private readonly ImmortalSession binding;
    private readonly SimulatedTasks tasks;
    private readonly World world;
    private readonly SimulatedReplica replica;
    private readonly Wire toApp = new(), toCoordinator = new();
    private readonly List<byte> received = [];
    private ReadAnswer answer = ReadAnswer.More;

    /// <summary>Bytes of a frame to the app that come with the next pieces.</summary>
    private long frameLeft;

    public SimulatedApp(World world, SimulatedReplica replica, ImmortalDefinition definition, byte[] token, OnBytes deliver)
    {
        this.world = world;
        this.replica = replica;
        this.deliver = deliver;
        Coordinator.Coordinator coordinator = replica.Coordinator!;
        tasks = new SimulatedTasks(world.Time, () => world.Oracles.TaskStarted(replica));
        session = coordinator.NewSession(static () => { });
        reader = session.NewReader();
        binding = new ImmortalSession(definition, new SessionOptions { Token = token, TaskRunner = tasks, Log = Say });
    }

    /// <summary>The trace has its first line: a stack behind it depends on what the compiler has inlined by then.</summary>
    private void Say(string line)
    {
        world.Trace($"{replica.Process} app: {line.Split('\n')[0]}");
        if (line.StartsWith("Continues ", StringComparison.Ordinal)) world.Continued++;
    }

    public bool IsAlive { get; private set; } = true;

    /// <summary>Both ends are gone and everything that was sent has been read.</summary>
    public bool HasEnded { get; private set; }

    public Immortal? Immortal => binding.Immortal;

    /// <summary>The fork policy ended it; started again it stops at the same place unless the log has got another policy since.</summary>
    public bool HasStopped { get; private set; }

    public int MessagesSetAside => binding.MessagesSetAside;

    public bool IsPrimary => session.IsPrimary;

    /// <summary>Other threads of the process may send.</summary>
    public bool AcceptsImpulses => IsAlive && binding is { End: null, Immortal.Runtime.Impulses.IsOpen: true };

    /// <summary>Bytes of impulses that wait to be sent.</summary>
    public long ImpulseBacklog => binding.ImpulseBacklog;

    /// <summary>Nothing moves any more by itself.</summary>
    public bool IsQuiet =>
        toApp.Count == 0 && toCoordinator.Count == 0 && received.Count == 0 && answer == ReadAnswer.More && !session.HasOutput
        && !HasBindingOutput() && !(IsAlive && tasks.HasAny);

    private bool HasBindingOutput() => IsAlive && (binding.OutputBacklog > 0 || binding.ImpulseBacklog > 0);

    /// <summary>kill -9: the process is gone, what it had sent is in the socket.</summary>
    public void Kill() => IsAlive = false;

    public void Step(Random random)
    {
        switch (random.Next(world.HasErrands ? 5 : 4))
        {
            case 0: CoordinatorReads(random); break;
            case 1: CoordinatorSends(); break;
            case 2 when IsAlive: AppReads(random); break;
            case 3 when IsAlive: AppSends(); break;
            case 4 when IsAlive: RunBody(random); break;
        }
    }

    /// <summary>
    /// Now and then the process dies as soon as the result is on its way: whether it is in the log already is what
    /// the next one cannot know.
    /// </summary>
    private void RunBody(Random random)
    {
        if (!tasks.HasAny) return;
        tasks.RunOne(random);
        if (world.IsCalm || !world.Faults.Kills || random.Next(12) != 0) return;
        while (HasBindingOutput() && toCoordinator.Count <= ChannelBytesMax) AppSends();
        Kill();
        replica.HoldCommits();
    }

    private void CoordinatorReads(Random random)
    {
        if (HasEnded) return;
        if (answer != ReadAnswer.More) { answer = reader.Continue(); return; }
        if (toCoordinator.Count > 0)
        {
            Memory<byte> space = reader.Space();
            byte[] piece = toCoordinator.Take(random.Next(1, Math.Min(space.Length, toCoordinator.Count) + 1));
            piece.CopyTo(space);
            try
            {
                answer = reader.Received(piece.Length);
            }
            catch (AppLeft left) when (left.Goodbye.Code == GoodbyeCode.AppFailed && HasStopped)
            {
                End(left.Message);
            }
        }
        else if (!IsAlive) End("the app died");
    }

    public void End(string why)
    {
        if (HasEnded) return;
        HasEnded = true;
        IsAlive = false;
        session.End(why);
        reader.Dispose();
    }

    private void CoordinatorSends()
    {
        if (HasEnded || toApp.Count > ChannelBytesMax) return;
        ReadOnlyMemory<byte> bytes;
        try
        {
            if (!session.TryTake(out bytes)) return;
        }
        catch (LogTruncatedException truncated) // a secondary that is far behind begins again at a newer checkpoint
        {
            End(truncated.Message);
            return;
        }
        deliver(bytes.Span, frameLeft == 0);
        frameLeft = Math.Max(0,
            frameLeft == 0 ? FrameHeader.Read(bytes.Span, 0, int.MaxValue).Length + FrameHeader.Bytes - bytes.Length
            : frameLeft - bytes.Length);
        if (IsAlive) toApp.Send(world.Faults.ForgedResults ? Forged(bytes.Span) : bytes.Span);
        session.Taken();
    }

    /// <summary>Negative control: every result of a task is another one than the log holds, always in the same way.</summary>
    private static byte[] Forged(ReadOnlySpan<byte> bytes)
    {
        byte[] forged = bytes.ToArray();
        if (FrameReader.TryRead(bytes, 0, int.MaxValue, checkPayload: false, out FrameHeader header, out _, out int size) != DecodeStatus.Ok
            || header.Type != FrameType.Deliver || size != bytes.Length) return forged;
        int at = FrameHeader.Bytes + DeliverHeader.Bytes;
        var records = new RecordReader(bytes[at..], DeliverHeader.Read(bytes[FrameHeader.Bytes..]).First);
        while (records.Next())
        {
            at += records.Whole.Length;
            if (records.Kind == RecordKind.NondetResult && records.Body[8] == 0) forged[at - 1] ^= 1;
        }
        return forged;
    }

    private void AppReads(Random random)
    {
        if (toApp.Count > 0) received.AddRange(toApp.Take(random.Next(1, toApp.Count + 1)));
        int consumed = binding.Feed(received.ToArray());
        received.RemoveRange(0, consumed);
        if (toApp.Count == 0) binding.InputDry();
        if (binding.End is not { } end) return;
        if (end.Code != GoodbyeCode.AppFailed || !end.Why.Contains("the fork policy is to stop"))
            throw new SimulationFailure($"the app's session ended: {end.Code} {end.Why}");
        while (binding.TryTakeOutput(out ReadOnlyMemory<byte> last))
        {
            toCoordinator.Send(last.Span);
            binding.OutputTaken(last.Length);
        }
        HasStopped = true;
        IsAlive = false;
    }

    private void AppSends()
    {
        if (toCoordinator.Count > ChannelBytesMax || !binding.TryTakeOutput(out ReadOnlyMemory<byte> bytes)) return;
        toCoordinator.Send(bytes.Span);
        binding.OutputTaken(bytes.Length);
    }
}

/// <summary>Is shown what begins with a whole frame's header, and the rest of a frame in pieces.</summary>
internal delegate void OnBytes(ReadOnlySpan<byte> bytes, bool isBeginning);

/// <summary>Something happened that must not.</summary>
internal sealed class SimulationFailure(string what) : Exception(what);
