using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Lets a start wait while the disk is full or the system refuses something for now, as a running coordinator waits. One line tells of a
/// full disk, and one of other refusals, however many wait. Any thread.
/// </summary>
internal sealed class SpaceWait(ILogger logger)
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    /// <summary>It is 1 once a start has waited for space.</summary>
    private int _wasShort;

    /// <summary>It is 1 once a start has waited for something else.</summary>
    private int _wasRefused;

    /// <summary>The end that was asked for, which ends the wait, too.</summary>
    public CancellationToken Stop { get; set; }

    /// <summary>Makes something as soon as there is space for it.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    public T Until<T>(Func<T> make)
    {
        while (true)
        {
            try
            {
                return make();
            }
            catch (IOException full) when (IFileSystem.IsDiskFull(full))
            {
                if (Interlocked.Exchange(ref _wasShort, 1) == 0) logger.NoSpaceToBegin(full.Message);
            }
            Rest();
        }
    }

    /// <summary>
    /// Makes something as soon as the system does not refuse it. What was made in part must not stand in the way of a repetition.
    /// </summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    public T UntilGiven<T>(Func<T> make)
    {
        while (true)
        {
            try
            {
                return Until(make);
            }
            catch (IOException refused) when (IFileSystem.IsNotNow(refused))
            {
                if (Interlocked.Exchange(ref _wasRefused, 1) == 0) logger.RefusedForNow(refused.Message);
            }
            Rest();
        }
    }

    private void Rest()
    {
        LockChecks.BeforeWait();
        Stop.WaitHandle.WaitOne(s_every);
        Stop.ThrowIfCancellationRequested();
    }
}
