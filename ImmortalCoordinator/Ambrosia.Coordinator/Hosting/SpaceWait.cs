using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// A full disk, or what else the system refuses for now, makes whoever begins wait, as it does with one that runs. One line tells of it for
/// all. Any thread.
/// </summary>
internal sealed class SpaceWait(ILogger logger)
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    /// <summary>It is 1 once somebody has waited for space.</summary>
    private int _wasShort;

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
            catch (IOException full) when (IFileSystem.IsNotNow(full))
            {
                if (Interlocked.Exchange(ref _wasShort, 1) == 0) logger.NoSpaceToBegin(full.Message);
            }
            LockChecks.BeforeWait();
            Stop.WaitHandle.WaitOne(s_every);
            Stop.ThrowIfCancellationRequested();
        }
    }
}
