using System.Globalization;
using Ambrosia.Log.Files;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Reads and writes the catalog's directory through the files seam. Any thread may call it.</summary>
/// <param name="replica">The instance and the replica that writes, with a dot between; the names of temporary files hold it.</param>
/// <param name="process">The id of this process, which they hold, too.</param>
internal sealed class CatalogFiles(IFileSystem files, string directory, string replica, int process) : ICatalogFiles
{
    private int _temporaries;

    public IReadOnlyList<string> List() => files.List(directory);

    public byte[]? Read(string name, int bytesMax)
    {
        try
        {
            using IFile file = files.Open(Path.Combine(directory, name), FileUse.Read);
            byte[] bytes = new byte[Math.Min(file.Length, bytesMax)];
            return bytes[..file.Read(bytes, 0)];
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public string? WhatIsOpen(string name) => FileRights.WhatIsWrongWithSecret(Path.Combine(directory, name));

    public string PathOf(string name) => Path.Combine(directory, name);

    public void Replace(string name, ReadOnlySpan<byte> content)
    {
        files.Rename(WriteTemporary(name, content), Path.Combine(directory, name));
        files.FlushDirectory(directory);
    }

    public bool CreateNew(string name, ReadOnlySpan<byte> content)
    {
        string temporary = WriteTemporary(name, content);
        bool isNew = files.TryName(temporary, Path.Combine(directory, name));
        files.Delete(temporary);
        files.FlushDirectory(directory);
        return isNew;
    }

    /// <summary>
    /// Removes the temporary files of processes that were this replica before; the caller has its name, so they have ended.
    /// </summary>
    /// <exception cref="IOException">The directory cannot be read or written.</exception>
    public void RemoveLeftovers()
    {
        foreach (string name in files.List(directory))
            if (name.StartsWith('.') && name.Split('.') is [.., var instance, var own, var id, _] && $"{instance}.{own}" == replica
                && int.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out int other) && other != process)
                files.Delete(Path.Combine(directory, name));
    }

    private string WriteTemporary(string name, ReadOnlySpan<byte> content)
    {
        files.CreateDirectory(directory);
        string path = Path.Combine(directory, $".{name}.{replica}.{process}.{Interlocked.Increment(ref _temporaries)}");
        files.Delete(path);
        using IFile file = files.Create(path);
        file.Write(content, 0);
        file.Flush();
        return path;
    }

    public void Delete(string name)
    {
        files.Delete(Path.Combine(directory, name));
        files.FlushDirectory(directory);
    }
}
