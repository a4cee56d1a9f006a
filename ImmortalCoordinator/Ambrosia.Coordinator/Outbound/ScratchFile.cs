using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>
/// Where outboxes put what does not fit their memory. Holds nothing that a crash could need: replay makes it again. Space is given
/// back when nothing in it is wanted any more. Any thread.
/// </summary>
internal sealed class ScratchFile(IFileSystem files, string path, long bytesMax) : IDisposable
{
    private readonly Lock gate = new();
    private IFile? file;
    private long end;
    private long live;

    public bool IsFull => Volatile.Read(ref live) >= bytesMax;

    public long LiveBytes => Volatile.Read(ref live);

    /// <summary>Keeps the bytes; returns where.</summary>
    public long Put(ReadOnlySpan<byte> bytes)
    {
        lock (gate)
        {
            if (file is null) { files.Delete(path); file = files.Create(path); }
            long at = end;
            file.Write(bytes, at);
            end += bytes.Length;
            live += bytes.Length;
            return at;
        }
    }

    public void Get(long at, Span<byte> bytes)
    {
        IFile from = file ?? throw new InvalidOperationException("nothing was spilled");
        if (from.Read(bytes, at) != bytes.Length) throw new IOException($"{path} is shorter than what was written to it");
    }

    /// <summary>One more wants the bytes.</summary>
    public void Hold(int bytes)
    {
        lock (gate) live += bytes;
    }

    /// <summary>One less wants the bytes.</summary>
    public void Drop(int bytes)
    {
        lock (gate)
        {
            live -= bytes;
            if (live > 0) return;
            end = 0;
            file!.SetLength(0);
        }
    }

    public void Dispose()
    {
        file?.Dispose();
        if (file is not null) files.Delete(path);
    }
}
