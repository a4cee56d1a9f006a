using System.IO.MemoryMappedFiles;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Microsoft.Win32.SafeHandles;

namespace Ambrosia.AppChannel;

/// <summary>
/// Owns two rings in memory that two processes share, one each way. The memory has no name in a file system: the coordinator makes it, the
/// app opens it through the coordinator's descriptor, and it is gone with both, however they end. Its size is sealed, so that neither
/// process can take pages away from the other.
/// </summary>
internal sealed unsafe partial class RingMemory : IDisposable
{
    private const uint CloseOnExec = 1, AllowSealing = 2; // MFD_…
    private const int AddSeals = 1033, SealSeal = 1, SealShrink = 2, SealGrow = 4; // F_…

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly int _capacity;
    private readonly byte* _start;

    private RingMemory(SafeFileHandle handle, int capacity, string path)
    {
        _capacity = capacity;
        Path = path;
        _file = MemoryMappedFile.CreateFromFile(handle, null, 0, MemoryMappedFileAccess.ReadWrite, HandleInheritability.None,
            leaveOpen: false);
        _view = _file.CreateViewAccessor(0, BytesOf(capacity));
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _start);
    }

    /// <summary>The path at which an app of the same user finds the memory as long as the coordinator lives.</summary>
    internal string Path { get; }

    internal int Capacity => _capacity;

    internal RingWriter WriterToApp => new(_start, _capacity);

    internal RingReader ReaderAtApp => new(_start, _capacity);

    internal RingWriter WriterFromApp => new(_start + BytesOf(_capacity) / 2, _capacity);

    internal RingReader ReaderFromApp => new(_start + BytesOf(_capacity) / 2, _capacity);

    /// <summary>Makes the memory, on the coordinator's side.</summary>
    /// <exception cref="IOException">The system gives no memory.</exception>
    internal static RingMemory Make(int capacity)
    {
        int descriptor = Create("ambrosia-app", CloseOnExec | AllowSealing);
        if (descriptor < 0)
            throw new IOException($"no memory to share with the app: memfd_create failed with errno {Marshal.GetLastPInvokeError()}");
        var handle = new SafeFileHandle(descriptor, ownsHandle: true);
        try
        {
            RandomAccess.SetLength(handle, BytesOf(capacity));
            if (Control(handle, AddSeals, SealSeal | SealShrink | SealGrow) != 0)
                throw new IOException($"sealing the memory shared with the app failed with errno {Marshal.GetLastPInvokeError()}");
            return new RingMemory(handle, capacity, $"/proc/{Environment.ProcessId}/fd/{descriptor}");
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    /// <summary>Opens the memory, on the app's side.</summary>
    /// <exception cref="ProtocolViolation">P5.19: the memory is not what the frame says.</exception>
    /// <exception cref="IOException">The memory cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The memory cannot be opened.</exception>
    internal static RingMemory Open(RingsFrame rings)
    {
        SafeFileHandle handle = File.OpenHandle(rings.Path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        try
        {
            long length = RandomAccess.GetLength(handle);
            if (length != BytesOf((int)rings.Capacity))
                throw new ProtocolViolation("P5.19", $"memory of {length} bytes for two rings of {rings.Capacity}");
            return new RingMemory(handle, (int)rings.Capacity, rings.Path);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    private static long BytesOf(int capacity) => 2L * (Ring.BytesAt + capacity);

    /// <summary>Gives the memory back; nobody may touch a ring afterwards.</summary>
    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }

    [LibraryImport("libc", EntryPoint = "memfd_create", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Create(string name, uint flags);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int Control(SafeFileHandle file, int command, int argument);
}

/// <summary>
/// Says where the parts of one ring lie (protocol P5.19): four words, each in cache lines of its own, then the bytes. Positions count all
/// bytes ever written and read; a byte at position p lies at p modulo the capacity. What the other side may write is checked wherever it is
/// read.
/// </summary>
internal static class Ring
{
    internal const int WrittenAt = 0, ReadAt = 128, ReaderWaitsAt = 256, WriterWaitsAt = 384, BytesAt = 4096;

    /// <summary>Returns the number of bytes between the two positions; null if an honest writer and reader cannot have them.</summary>
    internal static int? Used(ulong written, ulong read, int capacity) => written - read <= (ulong)capacity ? (int)(written - read) : null;
}
