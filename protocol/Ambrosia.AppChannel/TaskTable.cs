using System.Buffers.Binary;
using System.IO.MemoryMappedFiles;
using System.Runtime.CompilerServices;
using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia.AppChannel;

/// <summary>
/// The bodies of tasks that an app runs, in a small file that app and coordinator both map (protocol P5.26). What the app has written there
/// outlives it, so that its coordinator knows which bodies ran when the process died. Never a part of what is replayed. Invariant: one app
/// at a time writes, under a lock of its own; the coordinator writes while no app runs, and Drain, Retry at any time.
/// </summary>
public sealed unsafe class TaskTable : IDisposable
{
    /// <summary>A body that has run in so many processes that died is set aside.</summary>
    public const int DeathsMax = 3;

    public const int HeadBytes = 64, SlotBytes = 256, Slots = 1024, FileBytes = HeadBytes + Slots * SlotBytes;
    private const ulong Magic = 0x3159444F42424D41; // "AMBBODY1"
    private const int DrainAt = 8, UnheardAt = 16, BuildAt = 24;
    private const int FlagsAt = 8, DeathsAt = 12, LsnAt = 16, NameBytesAt = 24, NameAt = 26, NameBytesMax = SlotBytes - NameAt;
    private const uint Running = 1, OnTrial = 2, Aside = 4;

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly byte* _start;

    /// <summary>
    /// The slots of the app's bodies by number, and those that are free; null on the coordinator's side, which looks through all.
    /// </summary>
    private Dictionary<ulong, int>? _slotOf;
    private readonly Stack<int> _free = new();

    private TaskTable(FileStream stream)
    {
        _file = MemoryMappedFile.CreateFromFile(
            stream, null, 0, MemoryMappedFileAccess.ReadWrite, HandleInheritability.None, leaveOpen: false);
        _view = _file.CreateViewAccessor(0, FileBytes);
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _start);
    }

    /// <summary>Opens the table, and makes it, or makes it anew, where the file is none.</summary>
    /// <exception cref="IOException">The system gives no such file.</exception>
    public static TaskTable Open(string path)
    {
        var stream = new FileStream(path, new FileStreamOptions
        {
            Mode = FileMode.OpenOrCreate, Access = FileAccess.ReadWrite, Share = FileShare.ReadWrite,
            UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
        });
        if (stream.Length != FileBytes)
        {
            stream.SetLength(0);
            stream.SetLength(FileBytes);
        }
        var table = new TaskTable(stream);
        if (table.U64(0) != Magic)
        {
            new Span<byte>(table._start, FileBytes).Clear();
            table.U64(0) = Magic;
        }
        return table;
    }

    /// <summary>The app begins no body any more.</summary>
    public bool IsDraining
    {
        get => Volatile.Read(ref U32(DrainAt)) != 0;
        set => Volatile.Write(ref U32(DrainAt), value ? 1u : 0u);
    }

    /// <summary>The number of failures of calls and tasks that no handler has awaited, through the life of the file.</summary>
    public ulong Unheard => Volatile.Read(ref U64(UnheardAt));

    public void AddUnheard() => Interlocked.Increment(ref U64(UnheardAt));

    /// <summary>The bodies in the table: those that run, and those that ran in a process that died.</summary>
    public IReadOnlyList<TaskBody> All
    {
        get
        {
            var all = new List<TaskBody>();
            for (int slot = 0; slot < Slots; slot++)
                if (Read(slot) is { } body) all.Add(body);
            return all;
        }
    }

    public bool HasRunning
    {
        get
        {
            for (int slot = 0; slot < Slots; slot++)
                if (Task(slot) != 0 && (Flags(slot) & Running) != 0) return true;
            return false;
        }
    }

    // ---- the app ----

    /// <summary>
    /// Begins the time of an app as primary: what is not outstanding is dropped, and what was found out about bodies of another build
    /// counts no more.
    /// </summary>
    /// <param name="build">16 bytes.</param>
    public void Begin(ReadOnlySpan<byte> build, IReadOnlySet<ulong> outstanding)
    {
        var known = new Span<byte>(_start + BuildAt, build.Length);
        bool isSame = build.SequenceEqual(known);
        build.CopyTo(known);
        for (int slot = 0; slot < Slots; slot++)
        {
            if (Task(slot) == 0) continue;
            Flags(slot) &= ~(Running | OnTrial);
            if (!isSame) (Flags(slot), Deaths(slot)) = (0, 0);
            if (!outstanding.Contains(Task(slot)) || Deaths(slot) == 0) Clear(slot);
        }
        _slotOf = [];
        _free.Clear();
        for (int slot = Slots - 1; slot >= 0; slot--)
            if (Task(slot) == 0) _free.Push(slot);
            else _slotOf[Task(slot)] = slot;
    }

    /// <summary>Says what is to become of a body that is about to run. A table that is full knows nothing of it.</summary>
    public BodyStart Start(ulong task, Lsn begun, string name)
    {
        int slot = SlotOf(task);
        bool isSuspect = false;
        if (slot >= 0)
        {
            if ((Flags(slot) & Aside) != 0) return BodyStart.IsAside;
            if (Deaths(slot) >= DeathsMax)
            {
                if (IsOneOnTrial()) return BodyStart.WaitsForAnother;
                Flags(slot) |= OnTrial;
                isSuspect = true;
            }
        }
        else
        {
            if (!_free.TryPop(out slot)) return BodyStart.Runs;
            Write(slot, begun, name);
            _slotOf![task] = slot;
            Volatile.Write(ref Task(slot), task);
        }
        Flags(slot) |= Running;
        return isSuspect ? BodyStart.RunsAsSuspect : BodyStart.Runs;
    }

    /// <summary>The suspect that runs has run for long, and has done no harm: the next one may run.</summary>
    public void EndTrial()
    {
        for (int slot = 0; slot < Slots; slot++)
            if (Task(slot) != 0 && (Flags(slot) & (Running | OnTrial)) == (Running | OnTrial)) (Flags(slot), Deaths(slot)) = (Running, 0);
    }

    /// <summary>The body of a task has ended, or its result is known: its slot is free.</summary>
    public void End(ulong task)
    {
        if (_slotOf is null || !_slotOf.Remove(task, out int slot)) return;
        Clear(slot);
        _free.Push(slot);
    }

    /// <summary>The session has ended in order: what still runs has killed nothing.</summary>
    public void EndAll()
    {
        for (int slot = 0; slot < Slots; slot++)
            if (Task(slot) != 0) Flags(slot) &= ~(Running | OnTrial);
    }

    private bool IsOneOnTrial()
    {
        for (int slot = 0; slot < Slots; slot++)
            if (Task(slot) != 0 && (Flags(slot) & (Running | OnTrial)) == (Running | OnTrial)) return true;
        return false;
    }

    // ---- the coordinator ----

    /// <summary>
    /// The app's process has died, and no one from outside ended it. Each body that ran may be the reason. One that ran in three deaths is
    /// set aside where it is the only one; of several, each is run while the others wait, and the one that ran in the next death is it.
    /// </summary>
    /// <returns>The bodies that ran, as they stand now.</returns>
    public IReadOnlyList<TaskBody> Died()
    {
        var ran = new List<int>();
        int trial = -1;
        for (int slot = 0; slot < Slots; slot++)
        {
            if (Task(slot) == 0 || (Flags(slot) & Running) == 0) continue;
            ran.Add(slot);
            Deaths(slot)++;
            if ((Flags(slot) & OnTrial) != 0) trial = slot;
            Flags(slot) &= ~(Running | OnTrial);
        }
        if (trial < 0 && ran.Where(slot => Deaths(slot) >= DeathsMax).ToArray() is [var only]) trial = only;
        if (trial >= 0)
        {
            Flags(trial) |= Aside;
            for (int slot = 0; slot < Slots; slot++)
                if (Task(slot) != 0 && slot != trial && (Flags(slot) & Aside) == 0) Deaths(slot) = 0;
        }
        return [.. ran.Select(slot => Read(slot)!)];
    }

    /// <summary>The process was ended from outside, which says nothing of its bodies.</summary>
    public void Ended() => EndAll();

    /// <summary>Lets a body run again that is set aside. False: there is none of this number.</summary>
    public bool Retry(ulong task)
    {
        int slot = SlotOf(task);
        if (slot < 0 || (Flags(slot) & Aside) == 0) return false;
        Deaths(slot) = 0;
        Volatile.Write(ref Flags(slot), 0);
        return true;
    }

    // ---- slots ----

    private int SlotOf(ulong task)
    {
        if (_slotOf is not null) return _slotOf.GetValueOrDefault(task, -1);
        for (int slot = 0; slot < Slots; slot++)
            if (Task(slot) == task) return slot;
        return -1;
    }

    private void Write(int slot, Lsn begun, string name)
    {
        var bytes = new Span<byte>(At(slot) + NameAt, NameBytesMax);
        // The name is for people, and cut where it is too long.
        Encoder encoder = Encoding.UTF8.GetEncoder();
        encoder.Convert(name, bytes, flush: true, out _, out int count, out _);
        BinaryPrimitives.WriteUInt16LittleEndian(new Span<byte>(At(slot) + NameBytesAt, 2), (ushort)count);
        (U64(HeadBytes + slot * SlotBytes + LsnAt), Deaths(slot), Flags(slot)) = (begun.Value, 0, 0);
    }

    private TaskBody? Read(int slot)
    {
        if (Volatile.Read(ref Task(slot)) is not (> 0 and var task)) return null;
        int count = Math.Min((int)BinaryPrimitives.ReadUInt16LittleEndian(new ReadOnlySpan<byte>(At(slot) + NameBytesAt, 2)), NameBytesMax);
        string name = Encoding.UTF8.GetString(new ReadOnlySpan<byte>(At(slot) + NameAt, count));
        uint flags = Flags(slot);
        return new TaskBody(task, new Lsn(U64(HeadBytes + slot * SlotBytes + LsnAt)), name, (int)Deaths(slot),
            (flags & Running) != 0, (flags & Aside) != 0);
    }

    private void Clear(int slot)
    {
        Volatile.Write(ref Task(slot), 0);
        (Flags(slot), Deaths(slot)) = (0, 0);
    }

    private byte* At(int slot) => _start + HeadBytes + slot * SlotBytes;

    private ref ulong Task(int slot) => ref U64(HeadBytes + slot * SlotBytes);

    private ref uint Flags(int slot) => ref U32(HeadBytes + slot * SlotBytes + FlagsAt);

    private ref uint Deaths(int slot) => ref U32(HeadBytes + slot * SlotBytes + DeathsAt);

    private ref uint U32(int at) => ref Unsafe.AsRef<uint>(_start + at);

    private ref ulong U64(int at) => ref Unsafe.AsRef<ulong>(_start + at);

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}

/// <summary>Says what becomes of a body that is to run.</summary>
public enum BodyStart
{
    /// <summary>It runs now.</summary>
    Runs,

    /// <summary>It runs now, and other suspects wait until it has ended, or has run for a while.</summary>
    RunsAsSuspect,

    /// <summary>It has run in deaths of the process, as others have: it runs when the one that runs now has ended.</summary>
    WaitsForAnother,

    /// <summary>It is set aside, until an operator decides, or another build of the app comes.</summary>
    IsAside,
}

/// <summary>Describes the body of one task, as the table has it.</summary>
/// <param name="Task">The task's number.</param>
/// <param name="Begun">The record whose handler began it; zero: it is not known, since the task came out of a checkpoint.</param>
/// <param name="Name">The method in whose code it stands, for people.</param>
/// <param name="Deaths">The number of processes that died while it ran, since it was last known to be harmless.</param>
/// <param name="IsRunning">The app runs it.</param>
/// <param name="IsAside">It is not run.</param>
public sealed record TaskBody(ulong Task, Lsn Begun, string Name, int Deaths, bool IsRunning, bool IsAside)
{
    /// <summary>The reason for which it is set aside, for people.</summary>
    public string WhyAside =>
        $"its body {Name}{(Begun == Lsn.Zero ? "" : $", begun at Lsn {Begun},")} ran each time when the app died. The next build runs it again";
}
