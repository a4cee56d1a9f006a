using System.Collections.Concurrent;
using Ambrosia.Coordinator.Pumps;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Threads that wait for room in the log: without an end to their patience, so that a wake-up that is lost is found.</summary>
public sealed class RoomLineTests
{
    private static readonly TimeSpan deadline = TimeSpan.FromSeconds(60);

    private readonly RoomLine line = new(Timeout.InfiniteTimeSpan);

    [Fact]
    public async Task Wait_RoomWasMadeSinceTheLook_DoesNotWait()
    {
        long seen = line.Made;
        line.Make();

        await Task.Run(() => line.Wait(seen)).WaitAsync(deadline);
    }

    [Fact]
    public async Task Wait_RoomIsMadeAtAnyMoment_IsNeverMissed()
    {
        const int rounds = 20_000;
        var looked = new BlockingCollection<bool>(1);
        Task waiter = Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; i < rounds; i++)
                {
                    long seen = line.Made;
                    looked.Add(true);
                    line.Wait(seen);
                }
            }, TaskCreationOptions.LongRunning);
        for (int i = 0; i < rounds; i++)
        {
            Assert.True(looked.TryTake(out _, deadline), $"the wake-up of round {i} was lost");
            line.Make();
        }
        await waiter.WaitAsync(deadline);
    }

    [Fact]
    public void Make_ManyWait_LetsAFewGoAtATime()
    {
        const int threads = 40, atOnce = 8;
        long seen = line.Made;
        int gone = 0;
        Thread[] waiting = [.. Enumerable.Range(0, threads).Select(_ => new Thread(() => { line.Wait(seen); Interlocked.Increment(ref gone); }) { IsBackground = true })];
        foreach (Thread thread in waiting) thread.Start();
        Await(() => waiting.All(static thread => (thread.ThreadState & ThreadState.WaitSleepJoin) != 0));

        for (int made = 1; made <= threads / atOnce; made++)
        {
            line.Make();
            Await(() => Volatile.Read(ref gone) >= made * atOnce);
            Assert.Equal(made * atOnce, Volatile.Read(ref gone));
        }
    }

    private static void Await(Func<bool> condition) => Assert.True(SpinWait.SpinUntil(condition, deadline));
}
