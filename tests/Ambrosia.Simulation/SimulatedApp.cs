using System.Buffers;
using Ambrosia.Coordinator;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Simulation;

/// <summary>
/// An app process and its channel to the coordinator: the real binding on one side, the real session on the other, bytes between them.
/// A dead app's bytes still arrive; the channel ends when they have.
/// </summary>
internal sealed class SimulatedApp
{
    private const int ChannelBytesMax = 256 * 1024;

    private readonly OnBytes _deliver;
    private readonly AppSession _session;
    private readonly AppReader _reader;
    private readonly ImmortalSession _binding;
    private readonly SimulatedTasks _tasks;
    private readonly World _world;
    private readonly SimulatedReplica _replica;
    private readonly VersionsOracle.Session _versions;
    private readonly Wire _toApp = new(), _toCoordinator = new();
    private readonly List<byte> _received = [];
    private ReadAnswer _answer = ReadAnswer.More;

    /// <summary>Bytes of a frame to the app that come with the next pieces.</summary>
    private long _frameLeft;

    public SimulatedApp(World world, SimulatedReplica replica, ImmortalDefinition definition, byte[] token, OnBytes deliver)
    {
        _world = world;
        _replica = replica;
        _deliver = deliver;
        Coordinator.Coordinator coordinator = replica.Coordinator!;
        _tasks = new SimulatedTasks(replica.Time, () => world.Oracles.TaskStarted(replica));
        _session = coordinator.NewSession(static () => { });
        _reader = _session.NewReader();
        _binding = new ImmortalSession(
            definition, world.Upgrades.Of(replica, new SessionOptions { Token = token, TaskRunner = _tasks, Log = Log }));
        _versions = world.Oracles.Versions.NewSession(replica.Id);
    }

    /// <summary>The trace has its first line: a stack behind it depends on what the compiler has inlined by then.</summary>
    private void Log(string line)
    {
        _world.Trace($"{_replica.Process} app: {line.Split('\n')[0]}");
        if (line.StartsWith("Continues ", StringComparison.Ordinal)) _world.Continued++;
    }

    public bool IsAlive { get; private set; } = true;

    /// <summary>Both ends are gone and everything that was sent has been read.</summary>
    public bool HasEnded { get; private set; }

    public Immortal? Immortal => _binding.Immortal;

    /// <summary>The fork policy ended it; started again it stops at the same place unless the log has got another policy since.</summary>
    public bool HasStopped { get; private set; }

    public int MessagesSetAside => _binding.MessagesSetAside;

    public bool IsPrimary => _session.IsPrimary;

    /// <summary>Other threads of the process may send.</summary>
    public bool AcceptsImpulses => IsAlive && _binding is { End: null, Immortal.Context.IsPrimary: true };

    /// <summary>Bytes of impulses that wait to be sent.</summary>
    public long ImpulseBacklog => _binding.ImpulseBacklog;

    /// <summary>Nothing moves any more by itself.</summary>
    public bool IsQuiet =>
        _toApp.Count == 0 && _toCoordinator.Count == 0 && _received.Count == 0 && _answer == ReadAnswer.More && !_session.HasOutput
        && !HasBindingOutput() && !(IsAlive && _tasks.HasAny);

    private bool HasBindingOutput() => IsAlive && (_binding.OutputBacklog > 0 || _binding.ImpulseBacklog > 0);

    /// <summary>kill -9: the process is gone, what it had sent is in the socket.</summary>
    public void Kill() => IsAlive = false;

    public void Step(Random random)
    {
        switch (random.Next(_world.HasTimersAndTasks ? 5 : 4))
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
        if (!_tasks.HasAny) return;
        _tasks.RunOne(random);
        if (_world.IsCalm || !_world.Faults.Kills || random.Next(12) != 0 || !_world.Strikes.Strike("kill app behind a result")) return;
        while (HasBindingOutput() && _toCoordinator.Count <= ChannelBytesMax) AppSends();
        Kill();
        _replica.HoldCommits();
    }

    private void CoordinatorReads(Random random)
    {
        if (HasEnded) return;
        if (_answer != ReadAnswer.More) { _answer = _reader.Continue(); return; }
        if (_toCoordinator.Count > 0)
        {
            Memory<byte> space = _reader.Space();
            byte[] piece = _toCoordinator.Take(random.Next(1, Math.Min(space.Length, _toCoordinator.Count) + 1));
            piece.CopyTo(space);
            try
            {
                _answer = _reader.Received(piece.Length);
            }
            catch (AppLeftException left) when (left.Goodbye.Code == GoodbyeCode.AppFailed && HasStopped)
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
        _session.End(why);
        _reader.Dispose();
    }

    private void CoordinatorSends()
    {
        if (HasEnded || _toApp.Count > ChannelBytesMax) return;
        ReadOnlyMemory<byte> bytes;
        try
        {
            if (!_session.TryTake(out bytes)) return;
        }
        catch (LogTruncatedException truncated) // a secondary that is far behind begins again at a newer checkpoint
        {
            End(truncated.Message);
            return;
        }
        if (_world.Faults.WrongVersion) bytes = OfTheNewVersion(bytes);
        _deliver(bytes.Span, _frameLeft == 0);
        if (_frameLeft == 0 && _versions.Sent(bytes.Span) is { } wrong) _world.Oracles.WrongVersion(_replica, wrong);
        _frameLeft = Math.Max(0,
            _frameLeft == 0 ? FrameHeader.Read(bytes.Span, 0, int.MaxValue).Length + FrameHeader.Bytes - bytes.Length
            : _frameLeft - bytes.Length);
        if (IsAlive) _toApp.Send(_world.Faults.ForgedResults ? Forged(bytes.Span) : bytes.Span);
        _session.Taken();
    }

    /// <summary>Negative control: an app of both versions begins with the new one, whatever the log says.</summary>
    private static ReadOnlyMemory<byte> OfTheNewVersion(ReadOnlyMemory<byte> bytes)
    {
        DecodeStatus status = FrameReader.TryRead(
            bytes.Span, 0, int.MaxValue, checkPayload: false, out FrameHeader header, out ReadOnlySpan<byte> payload, out _);
        if (status != DecodeStatus.Ok || header.Type != FrameType.AppWelcome) return bytes;
        AppWelcome welcome = AppWelcome.Read(payload);
        if (welcome.RunsVersion is null) return bytes;
        var forged = new ArrayBufferWriter<byte>();
        FrameWriter.Write(forged, welcome with { RunsVersion = Upgrades.To }, seed: 0, checkPayload: false);
        return forged.WrittenMemory;
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
        if (_toApp.Count > 0) _received.AddRange(_toApp.Take(random.Next(1, _toApp.Count + 1)));
        int consumed = _binding.Feed(_received.ToArray());
        _received.RemoveRange(0, consumed);
        if (_toApp.Count == 0) _binding.InputDry();
        if (_binding.End is not { } end) return;
        if (end.Code == GoodbyeCode.CleanStop)
        {
            IsAlive = false;
            return;
        }
        if (end.Code != GoodbyeCode.AppFailed || !end.Why.Contains("the fork policy is to stop"))
            throw new SimulationFailure($"the app's session ended: {end.Code} {end.Why}");
        while (_binding.TryTakeOutput(out ReadOnlyMemory<byte> last))
        {
            _toCoordinator.Send(last.Span);
            _binding.OutputTaken(last.Length);
        }
        HasStopped = true;
        IsAlive = false;
    }

    private void AppSends()
    {
        if (_toCoordinator.Count > ChannelBytesMax || !_binding.TryTakeOutput(out ReadOnlyMemory<byte> bytes)) return;
        _toCoordinator.Send(bytes.Span);
        _binding.OutputTaken(bytes.Length);
    }
}

/// <summary>Is shown what begins with a whole frame's header, and the rest of a frame in pieces.</summary>
internal delegate void OnBytes(ReadOnlySpan<byte> bytes, bool isBeginning);

/// <summary>Something happened that must not.</summary>
internal sealed class SimulationFailure(string what) : Exception(what);
