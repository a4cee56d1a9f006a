using System.IO.MemoryMappedFiles;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;
using Microsoft.Win32.SafeHandles;

namespace Ambrosia.AppChannel;

/// <summary>
/// Two rings in memory that two processes share, one each way. It has no name in a file system: the coordinator makes it, the app opens
/// it through the coordinator's descriptor, and it is gone with both, however they end. Its size is sealed, so that neither can take pages
/// from under the other.
/// </summary>
internal sealed unsafe partial class RingMemory : IDisposable
{
    private const uint CloseOnExec = 1, AllowSealing = 2; // MFD_…
    private const int AddSeals = 1033, SealSeal = 1, SealShrink = 2, SealGrow = 4; // F_…

    private readonly MemoryMappedFile file;
    private readonly MemoryMappedViewAccessor view;
    private readonly int capacity;
    private readonly byte* start;

    private RingMemory(SafeFileHandle handle, int capacity, string path)
    {
        this.capacity = capacity;
        Path = path;
        file = MemoryMappedFile.CreateFromFile(handle, null, 0, MemoryMappedFileAccess.ReadWrite, HandleInheritability.None,
            leaveOpen: false);
        view = file.CreateViewAccessor(0, BytesOf(capacity));
        view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
    }

    /// <summary>Where an app of the same user finds it as long as the coordinator lives.</summary>
    internal string Path { get; }

    internal int Capacity => capacity;

    internal RingWriter WriterToApp => new(start, capacity);

    internal RingReader ReaderAtApp => new(start, capacity);

    internal RingWriter WriterFromApp => new(start + BytesOf(capacity) / 2, capacity);

    internal RingReader ReaderFromApp => new(start + BytesOf(capacity) / 2, capacity);

    /// <exception cref="IOException">The system gives none.</exception>
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

    /// <exception cref="ProtocolViolation">P5.19: it is not what the frame says.</exception>
    /// <exception cref="IOException">It cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">It cannot be opened.</exception>
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

    /// <summary>Nobody may touch a ring any more.</summary>
    public void Dispose()
    {
        view.SafeMemoryMappedViewHandle.ReleasePointer();
        view.Dispose();
        file.Dispose();
    }

    [LibraryImport("libc", EntryPoint = "memfd_create", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Create(string name, uint flags);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int Control(SafeFileHandle file, int command, int argument);
}
