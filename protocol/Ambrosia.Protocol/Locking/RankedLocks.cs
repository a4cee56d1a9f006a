using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol.Locking;

// This file stands in Protocol, the one library that all others know, although Protocol has no threads. Each library could compile a copy,
// but then each would have a set of held locks of its own, and nobody would see that the log's lock is held where the coordinator's is
// asked for. That was how a primary could stop for good.

/// <summary>
/// A rank is the place of a lock in the one order of all locks, and its name. A thread waits for a lock only while all that it holds have
/// lower ranks. The locks of several objects of one class share a rank, so no thread holds two of them. docs/architecture.md has the same
/// table with what each guards; a test compares the two.
/// </summary>
public enum LockRank
{
    // Those of pumps are taken first: they are held while a pump asks the parts.
    CommitPump = 100,
    AppSender = 110,
    OutPump = 120,
    TlsWire = 130,
    OutputPump = 140,
    OutputRoom = 150,

    // Conversations and what decides for them.
    TakeOverMonitor = 200,
    PeerLink = 210,
    ClientSession = 220,
    AppSession = 230,
    AppFeed = 240,
    ConversionSession = 245,
    SelfChannel = 250,
    AppSessionRegistry = 260,
    AppAdmission = 265,
    UpgradeAdmission = 266,
    InPlaceUpgrade = 267,
    UpgradeRehearsal = 268,
    ClientConnection = 270,

    // Tables that many conversations share.
    LinkTable = 300,
    WaitingLinks = 310,
    ClientTable = 320,
    ClientRequests = 330,
    PendingQueries = 340,
    PendingTimers = 350,
    AdminCommands = 360,
    DedupTable = 370,
    InFlightRequests = 380,
    QueryRouter = 385,
    RequestLimiter = 390,

    // What is known of the replay.
    QuarantineJournal = 400,
    TaskResultLog = 403,
    UpgradeRound = 405,
    VersionRebuild = 406,
    StateHandover = 407,
    DigestWriter = 410,
    DigestTracker = 420,
    PendingMarks = 430,
    DeliveryTracker = 440,
    AppWatch = 450,
    StoppingView = 460,

    // Outputs.
    OutputNotifier = 500,
    OutboxSet = 510,
    Outbox = 520,
    SendCursor = 530,
    TrimBatcher = 540,
    ScratchFile = 550,
    BlockPool = 560,
    ImpulseOutbox = 570,
    OutboundChunks = 580,

    // Checkpoints.
    CheckpointTrigger = 600,
    ImageQueue = 610,
    CheckpointJobWriter = 620,
    RetentionScheduler = 630,
    UnheardReceivers = 640,

    // The log.
    PagePool = 700,
    OpenSegment = 710,
    LogChain = 720,
    SpareSegments = 730,
    SegmentSpace = 740,
    LogClock = 750,

    // Leaves, which are taken last: whatever holds a lock may log an event.
    AppPump = 800,
    AppProcesses = 802,
    AppSupervisor = 803,
    ViewApp = 804,
    ViewHold = 805,
    AppProcess = 806,
    TaskThreads = 807,
    CatalogPump = 810,
    CertificateFiles = 820,
    DirectoryCatalog = 830,
    StoreCatalog = 831,
    PeerEventLog = 840,
    AbsentPeerLog = 841,
    BlockingCalls = 850,
    EventWriter = 870,
}

/// <summary>
/// A ranked lock guards what several threads share. Where checks are off it is a <see cref="Lock"/> and nothing else. It is reentrant only
/// where they are off, so nothing relies on that. Any thread may take it.
/// </summary>
public readonly struct RankedLock(LockRank rank)
{
    private readonly Lock _lock = new();

    public bool IsHeldByCurrentThread => _lock.IsHeldByCurrentThread;

    /// <summary>Takes the lock until the scope is disposed of.</summary>
    /// <exception cref="LockOrderException">A lock of this or a higher rank is held.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Scope Enter()
    {
        if (LockChecks.AreOn) LockChecks.Enter(rank);
        return new Scope(_lock.EnterScope());
    }

    /// <summary>
    /// Takes the lock unless another thread has it. After true the caller gives it back with <see cref="Exit"/>. It may be asked for
    /// against the order, since it waits for nobody; what is waited for under it must rank above everything held.
    /// </summary>
    /// <exception cref="LockOrderException">A lock of this rank is held.</exception>
    public bool TryEnter()
    {
        if (LockChecks.AreOn) LockChecks.EnterWithoutWaiting(rank);
        if (_lock.TryEnter()) return true;
        if (LockChecks.AreOn) LockChecks.Leave();
        return false;
    }

    public void Exit()
    {
        _lock.Exit();
        if (LockChecks.AreOn) LockChecks.Leave();
    }

    /// <summary>The scope in which a lock is held. It stays on the stack of the thread that took the lock.</summary>
    public ref struct Scope
    {
        private Lock.Scope _taken;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal Scope(Lock.Scope taken) => _taken = taken;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose()
        {
            _taken.Dispose();
            if (LockChecks.AreOn) LockChecks.Leave();
        }
    }
}

/// <summary>A ranked monitor is a lock under which threads wait for one another; waiting gives it back meanwhile.</summary>
public sealed class RankedMonitor(LockRank rank)
{
    /// <inheritdoc cref="RankedLock.Enter"/>
    public Scope Enter()
    {
        if (LockChecks.AreOn) LockChecks.Enter(rank);
        Monitor.Enter(this);
        return new Scope(this);
    }

    /// <summary>Waits until another thread pulses. The caller holds the monitor, and no other lock that is not made for waits.</summary>
    public void Wait()
    {
        LockChecks.BeforeWait();
        Monitor.Wait(this);
    }

    public void PulseAll() => Monitor.PulseAll(this);

    /// <inheritdoc cref="RankedLock.Scope"/>
    public readonly ref struct Scope
    {
        private readonly RankedMonitor _taken;

        internal Scope(RankedMonitor taken) => _taken = taken;

        public void Dispose()
        {
            Monitor.Exit(_taken);
            if (LockChecks.AreOn) LockChecks.Leave();
        }
    }
}

/// <summary>
/// Knows which locks the current thread holds, where <see cref="Variable"/> asks for that, and refuses what could end in a deadlock whether
/// or not it does this time. Where checks are off the compiler removes them, since <see cref="AreOn"/> never changes. Each thread sees only
/// its own locks.
/// </summary>
public static class LockChecks
{
    /// <summary>The environment variable that switches the checks on with the value 1, for a process and its children.</summary>
    public const string Variable = "AMBROSIA_LOCK_CHECKS";

    public static readonly bool AreOn = Environment.GetEnvironmentVariable(Variable) == "1";

    /// <summary>
    /// The ranks of the locks that this thread holds, in the order in which it took them. Invariant: no rank is there twice, and each that
    /// the thread may have waited for is above all before it. So every thread that waits does so for a higher rank than all that it holds,
    /// and no circle of waits can close.
    /// </summary>
    [ThreadStatic]
    private static List<LockRank>? s_held;

    /// <summary>Comes before a commit, which waits for writers, who may want any lock.</summary>
    /// <exception cref="LockOrderException">A lock is held that is not made for that.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void BeforeCommit()
    {
        if (AreOn) Check(HeldOver.Commit);
    }

    /// <summary>Comes before a wait, for another thread or for another process.</summary>
    /// <inheritdoc cref="BeforeCommit"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void BeforeWait()
    {
        if (AreOn) Check(HeldOver.Wait);
    }

    /// <summary>Comes before a call out of a module, to whoever has asked to hear of something, who may take any lock.</summary>
    /// <inheritdoc cref="BeforeCommit"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void BeforeCallOut()
    {
        if (AreOn) Check(HeldOver.CallOut);
    }

    /// <summary>
    /// Acts as another thread would, which holds none of the caller's locks. A simulator has one thread for all of its processes, and lets
    /// one act in the middle of another's file operation.
    /// </summary>
    public static void AsAnotherThread(Action act)
    {
        List<LockRank>? aside = s_held;
        s_held = null;
        try
        {
            act();
        }
        finally
        {
            s_held = aside;
        }
    }

    internal static void Enter(LockRank rank)
    {
        List<LockRank> held = s_held ??= [];
        foreach (LockRank each in held)
            if (each >= rank) throw Refused(each, rank);
        held.Add(rank);
    }

    internal static void EnterWithoutWaiting(LockRank rank)
    {
        List<LockRank> held = s_held ??= [];
        if (held.Contains(rank)) throw Refused(rank, rank);
        held.Add(rank);
    }

    private static LockOrderException Refused(LockRank held, LockRank wanted) =>
        new($"{Named(held)} is held where {Named(wanted)} is asked for. A lock is waited for only under locks of lower ranks. "
            + $"Held, the first one first: {Held()}.");

    internal static void Leave() => s_held!.RemoveAt(s_held.Count - 1);

    private static void Check(HeldOver act)
    {
        foreach (LockRank rank in s_held ?? [])
            if ((MadeFor(rank) & act) == 0)
                throw new LockOrderException($"{Named(rank)} is held over a {act}, and it is not made for that. Held, the first one first: "
                    + $"{Held()}.");
    }

    /// <summary>
    /// Returns what the holder of a lock may do besides using what the lock guards and taking locks of higher ranks.
    /// </summary>
    private static HeldOver MadeFor(LockRank rank) => rank switch
    {
        // Whoever has it is the one committer. It tells those who wait for a commit, who come under its rank.
        LockRank.CommitPump => HeldOver.Commit | HeldOver.CallOut,
        // These let one thread at a time write to a connection, which asks a part for bytes and waits for the other side to read.
        LockRank.AppSender or LockRank.OutPump or LockRank.OutputPump => HeldOver.Wait | HeldOver.CallOut,
        // It puts the app's calls to itself into the log in their order; the table of inputs hears where each ends.
        LockRank.SelfChannel => HeldOver.CallOut,
        // The encryption of a connection writes to its socket; who else wants it sends on the same connection.
        LockRank.TlsWire => HeldOver.Wait,
        // It is a monitor: its wait gives it back.
        LockRank.OutputRoom => HeldOver.Wait,
        _ => HeldOver.Nothing,
    };

    private static string Named(LockRank rank) => $"{rank} (rank {(int)rank})";

    private static string Held() => string.Join(", ", s_held!.Select(Named));

    [Flags]
    private enum HeldOver
    {
        Nothing = 0,
        Commit = 1,
        Wait = 2,
        CallOut = 4,
    }
}

/// <summary>A thread takes locks in an order, or does under a lock what that lock is not made for, that can end in a deadlock.</summary>
public sealed class LockOrderException(string message) : Exception(message);
