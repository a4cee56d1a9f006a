namespace Ambrosia.TestKit;

/// <summary>
/// Names at one moment, as programs see them or as the device holds them: which directories are named, and which file each name in a
/// directory means. A directory's entries may be there before its own name is: names are flushed a directory at a time.
/// </summary>
internal sealed class NameImage
{
    public const string Root = "/";

    private readonly HashSet<string> _directories = [Root];

    /// <summary>Directory → name → file, names in ordinal order.</summary>
    private readonly Dictionary<string, SortedDictionary<string, Inode>> _entries = [];

    public static string ParentOf(string path) => Path.GetDirectoryName(path) ?? Root;

    public bool HasDirectory(string path) => _directories.Contains(path);

    public void AddDirectory(string path) => _directories.Add(path);

    public Inode? Find(string path) =>
        _entries.TryGetValue(ParentOf(path), out SortedDictionary<string, Inode>? names)
        && names.TryGetValue(Path.GetFileName(path), out Inode? inode)
            ? inode : null;

    public void Set(string path, Inode inode)
    {
        string parent = ParentOf(path);
        if (!_entries.TryGetValue(parent, out SortedDictionary<string, Inode>? names))
            _entries.Add(parent, names = new SortedDictionary<string, Inode>(StringComparer.Ordinal));
        names[Path.GetFileName(path)] = inode;
    }

    public void Remove(string path) => _entries[ParentOf(path)].Remove(Path.GetFileName(path));

    /// <summary>Names of files and of directories, in ordinal order.</summary>
    public List<string> List(string directory)
    {
        IEnumerable<string> inside = _directories.Where(path => path != Root && ParentOf(path) == directory)
            .Select(static path => Path.GetFileName(path));
        if (_entries.TryGetValue(directory, out SortedDictionary<string, Inode>? names)) inside = inside.Concat(names.Keys);
        return [.. inside.Order(StringComparer.Ordinal)];
    }

    /// <summary>Every named file with its path, in ordinal order of the path.</summary>
    public IEnumerable<(string Path, Inode Inode)> Files() =>
        _entries.SelectMany(static pair => pair.Value.Select(name => (Path: Path.Join(pair.Key, name.Key), Inode: name.Value)))
            .OrderBy(static file => file.Path, StringComparer.Ordinal);

    /// <summary>Drops directories whose name, or that of one above, is not there, and what is in them.</summary>
    public void DropUnreachable()
    {
        _directories.RemoveWhere(path => !IsReachable(path));
        foreach (string directory in _entries.Keys.Where(path => !_directories.Contains(path)).ToList()) _entries.Remove(directory);
    }

    public NameImage Copy(Func<Inode, Inode> map)
    {
        var copy = new NameImage();
        copy._directories.UnionWith(_directories);
        foreach ((string path, Inode inode) in Files()) copy.Set(path, map(inode));
        return copy;
    }

    private bool IsReachable(string path)
    {
        for (string at = path; at != Root; at = ParentOf(at))
        {
            if (!_directories.Contains(at)) return false;
        }

        return true;
    }
}
