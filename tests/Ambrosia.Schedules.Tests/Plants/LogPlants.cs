using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Tests.Scenarios;

namespace Ambrosia.Schedules.Tests.Plants;

/// <summary>Faults of the log, its committer, and the table of inputs above it. The methods take the place of the product's.</summary>
internal static class LogPlants
{
    private const string Log = "Ambrosia.Log", Coordinator = "Ambrosia.Coordinator";
    private const string Writer = "Ambrosia.Log.Commit.LogWriter", Pool = "Ambrosia.Log.Pages.PagePool";
    private const string Parker = "Ambrosia.Coordinator.Hosting.Parker", Pump = "Ambrosia.Coordinator.Hosting.CommitPump";

    [ThreadStatic]
    private static Action<Lsn>? s_reserved;

    public static IEnumerable<Plant> All =>
    [
        // The fault that was: a record longer than a page is announced under the lock of the page pool, while no page is open.
        new("announced-under-the-pool", nameof(DedupTableScenario),
            new PlantEdit(Log, $"{Writer}::TryAppendSpanning", "AppendSpanning", Of(nameof(AppendSpanning)), [6]),
            new PlantEdit(Log, $"{Writer}::TryAppendSpanning", "Announce", Of(nameof(AnnounceNothing)), []),
            new PlantEdit(Log, $"{Pool}::AppendSpanning", "OpenNext", Of(nameof(Announce)), [2], IsBefore: true)),
        // The other fault that was: forget-peer commits under the lock of the dedup table.
        new("commit-under-the-table", nameof(ForgetPeerScenario),
            new PlantEdit(Coordinator, "Ambrosia.Coordinator.Inbox.DedupTable::BeginForget", "Invoke", Of(nameof(AppendAndCommit)), [])),
        // The committer goes to rest without another look at the pages.
        new("committer-looks-once", nameof(TwoCommittersScenario),
            new PlantEdit(Log, $"{Writer}::Begin", "get_HasReady", Of(nameof(SeesNothing)), [])),
        // The parker raises its flag, and sleeps without another look for work.
        new("parker-looks-first", nameof(CommitPumpScenario),
            new PlantEdit(Coordinator, $"{Parker}::Park", "Invoke", Of(nameof(HasNoWork)), [])),
        // The fault that was: a committer that was told Busy by one that goes to rest is gone, and nobody is idle then.
        new("busy-and-gone", nameof(TwoCommittersScenario),
            new PlantEdit(Log, $"{Writer}::Begin", "Read", Of(nameof(ReadOne)), [])),
        // The token of the committer is looked at and taken in two steps.
        new("token-in-two-steps", nameof(TwoCommittersScenario),
            new PlantEdit(Log, $"{Writer}::Begin", "CompareExchange", Of(nameof(CompareExchangeInSteps)), [])),
        // The pump lets a second thread commit.
        new("two-in-the-pump", nameof(CommitPumpScenario),
            new PlantEdit(Coordinator, $"{Pump}::TryRunHere", "TryEnter", Of(nameof(EnterAnyway)), []),
            new PlantEdit(Coordinator, $"{Pump}::TryRunHere", "Exit", Of(nameof(ExitNothing)), [])),
        // A writer looks at the word of a page and reserves room there in two steps.
        new("page-reserved-in-two-steps", nameof(PagePoolScenario),
            new PlantEdit(Log, "Ambrosia.Log.Pages.PageState::TryReserve", "CompareExchange", Of(nameof(CompareExchangeLongInSteps)), [])),
        // Whoever wants an empty page for itself looks whether it is one and shuts it in two steps.
        new("page-shut-in-two-steps", nameof(AloneScenario),
            new PlantEdit(Log, "Ambrosia.Log.Pages.PageState::TrySealEmpty", "CompareExchange", Of(nameof(CompareExchangeLongInSteps)), [])),
    ];

    private static MethodInfo Of(string name) => typeof(LogPlants).GetMethod(name, BindingFlags.Static | BindingFlags.NonPublic)!;

    internal static Lsn AppendSpanning(PagePool pool, List<LogPage> pages, out Lsn end, Action<Lsn>? reserved)
    {
        s_reserved = reserved;
        try
        {
            return pool.AppendSpanning(pages, out end);
        }
        finally
        {
            s_reserved = null;
        }
    }

    internal static void AnnounceNothing(Action<Lsn>? reserved, Lsn end)
    {
    }

    internal static void Announce(ref Lsn end) => s_reserved?.Invoke(end);

    internal static bool AppendAndCommit(Func<ForgetRecord, bool> tryAppend, ForgetRecord record)
    {
        bool isAppended = tryAppend(record);
        if (isAppended) Committing!(true);
        return isAppended;
    }

    /// <summary>Commits in the world that runs; the scenario sets it.</summary>
    internal static Action<bool>? Committing { get; set; }

    internal static bool SeesNothing(PagePool pool) => false;

    internal static int ReadOne(ref readonly int at) => 1;

    internal static bool HasNoWork(Func<bool> hasWork) => false;

    internal static int CompareExchangeInSteps(ref int at, int to, int from)
    {
        int was = Volatile.Read(ref at);
        if (was == from) Volatile.Write(ref at, to);
        return was;
    }

    internal static long CompareExchangeLongInSteps(ref long at, long to, long from)
    {
        long was = Volatile.Read(ref at);
        if (was == from) Volatile.Write(ref at, to);
        return was;
    }

    internal static bool EnterAnyway(ref readonly RankedLock gate) => true;

    internal static void ExitNothing(ref readonly RankedLock gate)
    {
    }
}
