using CRA.Catalog;

namespace Ambrosia.Client.Connections;

/// <summary>Reads the catalog's directory for clients, which never make or change anything in it. Any thread may call it.</summary>
internal sealed class ReadOnlyCatalogFiles(string directory) : ICatalogFiles
{
    private const UnixFileMode OthersMay = UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead
        | UnixFileMode.OtherWrite;

    public IReadOnlyList<string> List() =>
        Directory.Exists(directory) ? [.. Directory.EnumerateFiles(directory).Select(static path => Path.GetFileName(path))] : [];

    public byte[]? Read(string name, int bytesMax)
    {
        try
        {
            using var file = new FileStream(PathOf(name), FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            byte[] bytes = new byte[Math.Min(file.Length, bytesMax)];
            return bytes[..file.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false)];
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
    }

    public string? WhatIsOpen(string name)
    {
        if (OperatingSystem.IsWindows() || !File.Exists(PathOf(name))) return null;
        UnixFileMode mode = File.GetUnixFileMode(PathOf(name));
        return (mode & OthersMay) == 0 ? null
            : $"its mode is 0{Convert.ToString((int)mode & 0x1FF, 8)}: others than its owner may read or change it";
    }

    public string PathOf(string name) => Path.Combine(directory, name);

    public void Replace(string name, ReadOnlySpan<byte> content) => throw OnlyLooking();

    public bool CreateNew(string name, ReadOnlySpan<byte> content) =>
        throw new IOException(
            $"there is no catalog in {directory}: it has no {name}. Give the directory that the coordinators use (--catalog)");

    public void Delete(string name) => throw OnlyLooking();

    private static InvalidOperationException OnlyLooking() => new("a caller outside changes nothing in the catalog");
}
