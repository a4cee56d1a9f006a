using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>
/// A random walk over the files seam inside one directory, drawn from a seed. <see cref="Step"/> writes down what every operation answered,
/// so that two file systems that got the same seed can be compared line by line.
/// </summary>
internal sealed class FileScript(IFileSystem files, string root, ulong seed)
{
    private const int NamesMax = 5;
    private const int BytesMax = 20_000;

    private readonly SimulatedRandom _random = new(seed);
    private readonly Dictionary<string, IFile> _open = [];
    private readonly Dictionary<string, IFileLock> _locks = [];

    public string Step()
    {
        string name = $"f{_random.Next(NamesMax)}", other = $"f{_random.Next(NamesMax)}";
        int draw = _random.Next(20);
        long position = _random.Next(BytesMax);
        byte[] bytes = new byte[_random.Next(1, BytesMax)];
        _random.NextBytes(bytes);
        string what = $"{draw} {name} {other} {position} {bytes.Length}: ";
        try
        {
            return what + Do(draw, name, other, position, bytes);
        }
        catch (Exception e) when (e is FileNotFoundException or FileExistsException)
        {
            return what + e.GetType().Name;
        }
    }

    public void Close()
    {
        foreach (IFile file in _open.Values) file.Dispose();
        foreach (IFileLock held in _locks.Values) held.Dispose();
    }

    private string Do(int draw, string name, string other, long position, byte[] bytes) => draw switch
    {
        0 or 1 => Keep(name, files.Create(In(name))),
        2 or 3 => Keep(name, files.Open(In(name), FileUse.ReadWrite)),
        4 => files.Exists(In(name)).ToString(),
        5 => string.Join(' ', files.List(root)),
        6 => Done(() => files.Rename(In(name), In(other))),
        7 => files.TryRenameNew(In(name), In(other)).ToString(),
        8 => files.TryLink(In(name), In(other)).ToString(),
        9 => Done(() => files.Delete(In(name))),
        10 => Done(() => files.FlushDirectory(root)),
        11 => TakeLock(name),
        12 => FreeLock(name),
        _ => _open.TryGetValue(name, out IFile? file) ? OnFile(draw, file, position, bytes) : "not open",
    };

    private static string OnFile(int draw, IFile file, long position, byte[] bytes)
    {
        switch (draw)
        {
            case 13 or 14 or 15:
                file.Write(bytes, position);
                break;
            case 16:
                file.SetLength(position);
                break;
            case 17:
                file.Flush();
                file.DropCache();
                break;
            case 18:
                file.Allocate(file.Length, file.Length + position + 1);
                break;
            case 19:
                file.Unlock();
                return file.TryLock(position % 3 == 0 ? FileLockKind.Exclusive : FileLockKind.Shared).ToString();
        }

        byte[] whole = new byte[3 * BytesMax];
        int count = file.Read(whole, 0);
        return $"{file.Length} {count} {Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(whole.AsSpan(0, count)).AsSpan(0, 8))}";
    }

    private string TakeLock(string name)
    {
        if (_locks.ContainsKey(name)) return "ours";
        if (files.TryLock(In(name)) is not { } held) return "taken";
        _locks.Add(name, held);
        return held.IsStillNamed.ToString();
    }

    private string FreeLock(string name)
    {
        if (!_locks.Remove(name, out IFileLock? held)) return "not held";
        string named = held.IsStillNamed.ToString();
        held.Dispose();
        return named;
    }

    private string Keep(string name, IFile file)
    {
        if (_open.Remove(name, out IFile? before)) before.Dispose();
        _open.Add(name, file);
        return "open";
    }

    private static string Done(Action action)
    {
        action();
        return "done";
    }

    private string In(string name) => Path.Join(root, name);
}
