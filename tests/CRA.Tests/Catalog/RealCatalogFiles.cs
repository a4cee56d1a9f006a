using System.Runtime.InteropServices;
using CRA.Catalog;

namespace CRA.Tests;

/// <summary>
/// ICatalogFiles on a real directory, with the modes and the atomicity that its contract asks for (durability is not what these tests are
/// about).
/// </summary>
internal sealed partial class RealCatalogFiles : ICatalogFiles
{
    private readonly string _directory;
    private int _replaced;

    public RealCatalogFiles(string directory)
    {
        _directory = directory;
        Directory.CreateDirectory(directory, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    public int Replaced => Volatile.Read(ref _replaced);

    public IReadOnlyList<string> List() => [.. Directory.EnumerateFileSystemEntries(_directory).Select(path => Path.GetFileName(path)!)];

    public byte[]? Read(string name, int bytesMax)
    {
        try
        {
            using FileStream file = File.OpenRead(PathOf(name));
            byte[] content = new byte[Math.Min(bytesMax, file.Length)];
            file.ReadExactly(content);
            return content;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public string? WhatIsOpen(string name) =>
        File.Exists(PathOf(name)) && ((int)File.GetUnixFileMode(PathOf(name)) & 0x3F) is not 0 and int open ? $"open by {open}" : null;

    public void Replace(string name, ReadOnlySpan<byte> content)
    {
        Interlocked.Increment(ref _replaced);
        File.Move(WriteTemporary(content), PathOf(name), overwrite: true);
    }

    public bool CreateNew(string name, ReadOnlySpan<byte> content)
    {
        string temporary = WriteTemporary(content);
        bool made = Link(temporary, PathOf(name)) == 0;
        File.Delete(temporary);
        return made;
    }

    public void Delete(string name) => File.Delete(PathOf(name));

    public string PathOf(string name) => Path.Combine(_directory, name);

    private string WriteTemporary(ReadOnlySpan<byte> content)
    {
        string path = PathOf($".tmp-{Guid.NewGuid():N}");
        var options = new FileStreamOptions
        {
            Mode = FileMode.CreateNew, Access = FileAccess.Write, UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
        };
        using var file = new FileStream(path, options);
        file.Write(content);
        file.Flush(flushToDisk: true);
        return path;
    }

    [LibraryImport("libc", EntryPoint = "link", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Link(string existing, string name);
}
