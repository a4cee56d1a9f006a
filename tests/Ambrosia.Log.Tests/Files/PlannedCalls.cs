using System.Runtime.InteropServices;
using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The real kernel for one process, except that the planned ones of its calls fail, are interrupted, or do less than they were asked to.
/// What the process has open goes when it ends: <see cref="Die"/>. One thread, beside the collector's, which closes what was left behind.
/// </summary>
internal sealed unsafe class PlannedCalls(PlannedCalls.Plan plan) : SystemCalls
{
    private const int SectorBytes = 512;

    private readonly Lock _closing = new();
    private readonly HashSet<int> _open = []; // guarded by _closing

    /// <summary>Says how a call is answered.</summary>
    /// <param name="Errno">It fails with this; 0: it does not.</param>
    /// <param name="IsShort">A transfer of several bytes moves about half of them, whole sectors where there are some.</param>
    public readonly record struct Answer(int Errno = 0, bool IsShort = false);

    /// <summary>Says what becomes of each call of all processes of a scenario; calls are numbered from 1.</summary>
    public sealed class Plan(Func<int, Answer> answers)
    {
        public int Calls { get; private set; }

        /// <summary>Calls that were answered otherwise than by the kernel alone.</summary>
        public int Fired { get; private set; }

        public Answer Next()
        {
            Answer answer = answers(++Calls);
            if (answer != default) Fired++;
            return answer;
        }
    }

    /// <summary>Closes everything, as the end of a process does; whoever still refers to it has nothing.</summary>
    public void Die()
    {
        lock (_closing)
        {
            foreach (int fd in _open) base.Close(fd);
            _open.Clear();
        }
    }

    public override int Open(string path, int flags, uint mode)
    {
        if (Fails(out _)) return -1;
        int fd = base.Open(path, flags, mode);
        if (fd < 0) return fd;
        lock (_closing) _open.Add(fd);
        return fd;
    }

    public override int Close(int fd)
    {
        lock (_closing) return _open.Remove(fd) ? base.Close(fd) : 0;
    }

    public override int FSync(int fd) => Fails(out _) ? -1 : base.FSync(fd);

    public override int FDataSync(int fd) => Fails(out _) ? -1 : base.FDataSync(fd);

    public override int FTruncate(int fd, long length) => Fails(out _) ? -1 : base.FTruncate(fd, length);

    public override int FAllocate(int fd, int mode, long offset, long length) =>
        Fails(out _) ? -1 : base.FAllocate(fd, mode, offset, length);

    public override int FLock(int fd, int operation) => (operation & Libc.LockUnlock) == 0 && Fails(out _) ? -1 : base.FLock(fd, operation);

    public override nint PRead(int fd, byte* buffer, nuint count, long offset) =>
        Fails(out bool isShort) ? -1 : base.PRead(fd, buffer, isShort ? Part(count) : count, offset);

    public override nint PWrite(int fd, byte* buffer, nuint count, long offset) =>
        Fails(out bool isShort) ? -1 : base.PWrite(fd, buffer, isShort ? Part(count) : count, offset);

    public override nint PWriteV(int fd, Libc.IoVector* parts, int count, long offset)
    {
        if (Fails(out bool isShort)) return -1;
        return isShort ? base.PWrite(fd, parts[0].Start, Part(parts[0].Length), offset) : base.PWriteV(fd, parts, count, offset);
    }

    private static nuint Part(nuint count) =>
        count > SectorBytes ? (count / 2 + SectorBytes - 1) / SectorBytes * SectorBytes : Math.Max(count / 2, 1);

    private bool Fails(out bool isShort)
    {
        Answer answer = plan.Next();
        isShort = answer.IsShort;
        if (answer.Errno != 0) Marshal.SetLastPInvokeError(answer.Errno);
        return answer.Errno != 0;
    }
}
