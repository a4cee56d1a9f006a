using Ambrosia.Protocol.Locking;

namespace Ambrosia.Protocol.Tests.Locking;

/// <summary>
/// What could end in a deadlock is refused whether or not it does: with the checks on, as every suite has them. Each test plants what a
/// product must not do, and has its like that it may do.
/// </summary>
public sealed class RankedLocksTests
{
    private readonly RankedLock _outer = new(LockRank.DedupTable), _inner = new(LockRank.PagePool), _pump = new(LockRank.CommitPump);

    [Fact]
    public void Enter_InTheOrder_HoldsBoth()
    {
        using (_outer.Enter())
        {
            using (_inner.Enter()) Assert.True(_outer.IsHeldByCurrentThread && _inner.IsHeldByCurrentThread);
        }
        using (_inner.Enter()) { }
        using (_outer.Enter()) { } // what was given back is not held
    }

    [Fact]
    public void Enter_AgainstTheOrder_IsRefusedWithNamesRanksAndAllThatIsHeld()
    {
        using (_pump.Enter())
        {
            using (_inner.Enter())
            {
                Assert.Equal(
                    "PagePool (rank 700) is held where DedupTable (rank 370) is asked for. A lock is waited for only under locks of lower "
                    + "ranks. Held, the first one first: CommitPump (rank 100), PagePool (rank 700).",
                    Refused(() => _outer.Enter().Dispose()));
                Assert.False(_outer.IsHeldByCurrentThread);
            }
        }
    }

    [Fact]
    public void TryEnter_AgainstTheOrder_WaitsForNobodyAndIsAllowed()
    {
        using (_inner.Enter())
        {
            Assert.True(_outer.TryEnter());
            Refused(() => _inner.TryEnter()); // again
            _outer.Exit();
        }
    }

    /// <summary>A lock that was had without waiting lowers nothing: what was held before it still counts.</summary>
    [Fact]
    public void Enter_UnderALockThatWasTried_IsHeldAgainstTheHighest()
    {
        var between = new RankedLock((LockRank)((int)LockRank.DedupTable + 1));
        using (_inner.Enter())
        {
            Assert.True(_outer.TryEnter());
            Refused(() => between.Enter().Dispose());
            _outer.Exit();
        }
    }

    [Fact]
    public void TryEnter_LockOfAnotherThread_HoldsNothing()
    {
        using var held = new ManualResetEventSlim();
        using var seen = new ManualResetEventSlim();
        var other = new Thread(() =>
        {
            using (_inner.Enter())
            {
                held.Set();
                seen.Wait();
            }
        });
        other.Start();
        held.Wait();
        bool taken = _inner.TryEnter();
        seen.Set();
        other.Join();
        Assert.False(taken);
        using (_outer.Enter()) { } // the other thread's lock is none of this one's
    }

    [Fact]
    public void Enter_TwiceOrTwoOfOneRank_IsRefused()
    {
        var sibling = new RankedLock(LockRank.DedupTable);
        using (_outer.Enter())
        {
            Refused(() => _outer.Enter().Dispose());
            Refused(() => sibling.Enter().Dispose());
        }
    }

    [Fact]
    public void Enter_RefusedOnce_GoesOnAsBefore()
    {
        using (_inner.Enter()) Refused(() => _outer.Enter().Dispose());
        using (_outer.Enter()) { }
    }

    [Fact]
    public void Commit_UnderALock_IsRefusedUnlessItIsMadeForThat()
    {
        LockChecks.BeforeCommit();
        using (_pump.Enter()) LockChecks.BeforeCommit();
        using (_outer.Enter())
            Assert.StartsWith("DedupTable (rank 370) is held over a Commit", Refused(LockChecks.BeforeCommit), StringComparison.Ordinal);
        using (_pump.Enter())
        {
            using (_outer.Enter()) Refused(LockChecks.BeforeCommit); // one of two is enough
        }
    }

    [Fact]
    public void WaitAndCallOut_UnderALock_AreRefusedUnlessItIsMadeForThat()
    {
        var sender = new RankedLock(LockRank.OutPump);
        using (sender.Enter())
        {
            LockChecks.BeforeWait();
            LockChecks.BeforeCallOut();
        }
        using (_outer.Enter())
        {
            Refused(LockChecks.BeforeWait);
            Refused(LockChecks.BeforeCallOut);
        }
        using (_pump.Enter()) Refused(LockChecks.BeforeWait);
    }

    [Fact]
    public void Monitor_UnderAnotherLock_DoesNotWait()
    {
        var room = new RankedMonitor(LockRank.OutputRoom);
        using (_pump.Enter())
        {
            using (room.Enter()) Refused(room.Wait);
        }
        using (_outer.Enter()) Refused(() => room.Enter().Dispose());
    }

    [Fact]
    public void Monitor_Pulsed_GoesOn()
    {
        var room = new RankedMonitor(LockRank.OutputRoom);
        bool isThere = false;
        var other = new Thread(() =>
        {
            using (room.Enter())
            {
                isThere = true;
                room.PulseAll();
            }
        });
        using (room.Enter())
        {
            other.Start();
            while (!isThere) room.Wait();
        }
        other.Join();
    }

    /// <summary>A simulator lets another process act in the middle of a file operation of the first, on the same thread.</summary>
    [Fact]
    public void AsAnotherThread_UnderALock_HoldsNothing()
    {
        using (_inner.Enter())
        {
            LockChecks.AsAnotherThread(() =>
            {
                using (_outer.Enter()) { }
            });
            Refused(() => _outer.Enter().Dispose());
        }
    }

    [Fact]
    public void Enter_Often_AllocatesNothing()
    {
        using (_outer.Enter()) { } // the thread's list is made
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 1000; i++)
        {
            using (_outer.Enter()) LockChecksAreQuiet();
        }
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    private static void LockChecksAreQuiet() => Assert.True(LockChecks.AreOn);

    private static string Refused(Action act) => Assert.Throws<LockOrderException>(act).Message;
}
