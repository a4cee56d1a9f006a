using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>
/// Declares the calls of the C library that .NET does not offer with the flags or the errors that the log needs. Linux, 64 bits.
/// </summary>
internal static unsafe partial class Libc
{
    public const int ReadOnly = 0, ReadWrite = 2, CreateFlag = 0x40, ExclusiveFlag = 0x80, CloseOnExec = 0x8_0000;
    public const int LockShared = 1, LockExclusive = 2, LockNoWait = 4, LockUnlock = 8;
    public const int CurrentDirectory = -100, EmptyPath = 0x1000, ForceSync = 0x2000, NoReplace = 1;
    public const int KeepSize = 1, Random = 1, WillNeed = 3, DontNeed = 4, SeekData = 3, SeekHole = 4;

    /// <summary>The kernel counts a file's blocks in these, whatever the device has.</summary>
    public const int SectorBytes = 512;
    public const int LargePages = 14, CollapseNow = 25, LargePageBytes = 2 << 20;
    public const int ProtectRead = 1, PrivateMapping = 2, AnonymousMapping = 0x20;
    public const int BootClock = 7;
    public const int GetFlags = 3, SetFlags = 4;
    public const uint InodeMask = 0x100, SizeMask = 0x200, BlocksMask = 0x400, DirectAlignMask = 0x2000;
    public const int NotThere = 2, Interrupted = 4, BadDescriptor = 9, WouldBlock = 11, AccessDenied = 13, Exists = 17, Invalid = 22;
    public const int NoSuchPlace = 6, NotImplemented = 38, NotSupported = 95;

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Open(string path, int flags, uint mode);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int fd);

    [LibraryImport("libc", EntryPoint = "pread", SetLastError = true)]
    public static partial nint PRead(int fd, byte* buffer, nuint count, long offset);

    [LibraryImport("libc", EntryPoint = "pwrite", SetLastError = true)]
    public static partial nint PWrite(int fd, byte* buffer, nuint count, long offset);

    [LibraryImport("libc", EntryPoint = "pwritev", SetLastError = true)]
    public static partial nint PWriteV(int fd, IoVector* parts, int count, long offset);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    public static partial int FCntl(int fd, int command, int argument);

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    public static partial int FDataSync(int fd);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    public static partial int FSync(int fd);

    [LibraryImport("libc", EntryPoint = "ftruncate", SetLastError = true)]
    public static partial int FTruncate(int fd, long length);

    [LibraryImport("libc", EntryPoint = "lseek", SetLastError = true)]
    public static partial long LSeek(int fd, long offset, int whence);

    [LibraryImport("libc", EntryPoint = "fallocate", SetLastError = true)]
    public static partial int FAllocate(int fd, int mode, long offset, long length);

    [LibraryImport("libc", EntryPoint = "posix_fadvise")]
    public static partial int FAdvise(int fd, long offset, long length, int advice);

    /// <summary><see cref="MMap"/> returns this when there is no memory for the mapping.</summary>
    public static readonly void* MapFailed = (void*)-1;

    [LibraryImport("libc", EntryPoint = "mmap")]
    public static partial void* MMap(void* address, nuint length, int protection, int flags, int fd, long offset);

    [LibraryImport("libc", EntryPoint = "madvise")]
    public static partial int MAdvise(void* start, nuint length, int advice);

    [LibraryImport("libc", EntryPoint = "flock", SetLastError = true)]
    public static partial int FLock(int fd, int operation);

    [LibraryImport("libc", EntryPoint = "rename", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Rename(string from, string to);

    [LibraryImport("libc", EntryPoint = "renameat2", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int RenameAt2(int fromDirectory, string from, int toDirectory, string to, uint flags);

    [LibraryImport("libc", EntryPoint = "link", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Link(string existing, string link);

    [LibraryImport("libc", EntryPoint = "unlink", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Unlink(string path);

    /// <summary>It is answered without a call of the kernel, so the collector may wait for it.</summary>
    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [SuppressGCTransition]
    public static partial int ClockGetTime(int clock, TimeSpec* now);

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int StatX(int directory, string path, int flags, uint mask, FileStatus* status);

    [LibraryImport("libc", EntryPoint = "statvfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int StatVfs(string path, FileSystemStatus* status);

    /// <summary>Has the layout of the kernel's struct statx, which is the same on every processor.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    public struct FileStatus
    {
        [FieldOffset(0)] public uint Mask;
        [FieldOffset(32)] public ulong Inode;
        [FieldOffset(40)] public ulong Bytes;
        [FieldOffset(48)] public ulong Sectors;
        [FieldOffset(136)] public uint DeviceMajor;
        [FieldOffset(140)] public uint DeviceMinor;
        [FieldOffset(152)] public uint DirectMemoryAlign;
        [FieldOffset(156)] public uint DirectOffsetAlign;
    }

    /// <summary>Has the layout of struct timespec.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }

    /// <summary>Has the layout of struct iovec.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct IoVector
    {
        public byte* Start;
        public nuint Length;
    }

    /// <summary>O_DIRECT, one of the few flags whose value depends on the processor.</summary>
    public static int DirectFlag => RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.Arm64 or Architecture.Arm => 0x1_0000,
        Architecture.Ppc64le => 0x2_0000,
        _ => 0x4000,
    };

    /// <summary>Has the layout of struct statvfs of 64-bit Linux.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    public struct FileSystemStatus
    {
        [FieldOffset(8)] public ulong FragmentBytes;
        [FieldOffset(32)] public ulong FragmentsAvailable;
        [FieldOffset(40)] public ulong Inodes;
        [FieldOffset(56)] public ulong InodesAvailable;
    }
}

/// <summary>
/// Makes the calls around an open file that the kernel may do in part, or interrupt. They stand apart from the loops around them, so that a
/// test can answer every possible count at every call. Results and errno are those of C; the marshaller keeps the last errno. Stateless.
/// </summary>
internal unsafe class SystemCalls
{
    public static SystemCalls Real { get; } = new();

    public virtual int Open(string path, int flags, uint mode) => Libc.Open(path, flags, mode);

    /// <summary>Flushes a directory.</summary>
    public virtual int FSync(int fd) => Libc.FSync(fd);

    public virtual nint PRead(int fd, byte* buffer, nuint count, long offset) => Libc.PRead(fd, buffer, count, offset);

    public virtual nint PWrite(int fd, byte* buffer, nuint count, long offset) => Libc.PWrite(fd, buffer, count, offset);

    public virtual nint PWriteV(int fd, Libc.IoVector* parts, int count, long offset) => Libc.PWriteV(fd, parts, count, offset);

    public virtual int FDataSync(int fd) => Libc.FDataSync(fd);

    public virtual int FTruncate(int fd, long length) => Libc.FTruncate(fd, length);

    public virtual int FAllocate(int fd, int mode, long offset, long length) => Libc.FAllocate(fd, mode, offset, length);

    public virtual int FLock(int fd, int operation) => Libc.FLock(fd, operation);

    public virtual int Close(int fd) => Libc.Close(fd);
}
