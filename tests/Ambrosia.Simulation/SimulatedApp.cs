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
    private readonly Wire toApp = new(), toCoordinator = new();
    private readonly List<byte> received = [];
    private ReadAnswer answer = ReadAnswer.More;

    /// <summary>Bytes of a frame to the app that come with the next pieces.</summary>
    private long frameLeft;

    public SimulatedApp(Coordinator.Coordinator coordinator, ImmortalDefinition definition, byte[] token, OnBytes deliver, Action<string> say)
    {
        this.deliver = deliver;
        session = coordinator.NewSession(static () => { });
        reader = session.NewReader();
        binding = new ImmortalSession(definition, new SessionOptions { Token = token, Log = say });
    }

    public bool IsAlive { get; private set; } = true;

    /// <summary>Both ends are gone and everything that was sent has been read.</summary>
    public bool HasEnded { get; private set; }

    public Immortal? Immortal => binding.Immortal;

    public bool IsPrimary => session.IsPrimary;

    /// <summary>Nothing moves any more by itself.</summary>
    public bool IsQuiet => toApp.Count == 0 && toCoordinator.Count == 0 && received.Count == 0 && answer == ReadAnswer.More && !session.HasOutput && !HasBindingOutput();

    private bool HasBindingOutput() => IsAlive && binding.OutputBacklog > 0;

    /// <summary>kill -9: the process is gone, what it had sent is in the socket.</summary>
    public void Kill() => IsAlive = false;

    public void Step(Random random)
    {
        switch (random.Next(4))
        {
            case 0: CoordinatorReads(random); break;
            case 1: CoordinatorSends(); break;
            case 2 when IsAlive: AppReads(random); break;
            case 3 when IsAlive: AppSends(); break;
        }
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
            answer = reader.Received(piece.Length);
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
        frameLeft = Math.Max(0, frameLeft == 0 ? FrameHeader.Read(bytes.Span, 0, int.MaxValue).Length + FrameHeader.Bytes - bytes.Length : frameLeft - bytes.Length);
        if (IsAlive) toApp.Send(bytes.Span);
        session.Taken();
    }

    private void AppReads(Random random)
    {
        if (toApp.Count > 0) received.AddRange(toApp.Take(random.Next(1, toApp.Count + 1)));
        int consumed = binding.Feed(received.ToArray());
        received.RemoveRange(0, consumed);
        if (toApp.Count == 0) binding.InputDry();
        if (binding.End is { } end) throw new SimulationFailure($"the app's session ended: {end.Code} {end.Why}");
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
