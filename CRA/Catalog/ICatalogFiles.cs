namespace CRA.Catalog;

/// <summary>
/// The seam to the directory of small files under <see cref="DirectoryCatalog"/>. Names are plain file names. An implementation makes the
/// directory with mode 0700 and every file with mode 0600, independently of the umask. Any failure that is not named is an
/// <see cref="IOException"/>.
/// </summary>
public interface ICatalogFiles
{
    /// <summary>
    /// Returns the names in the directory in any order, and none when there is no directory. The names of temporary files begin with a dot.
    /// </summary>
    IReadOnlyList<string> List();

    /// <summary>
    /// Reads the first <paramref name="bytesMax"/> bytes of a file, or all of a shorter one; returns null when the file is not there.
    /// </summary>
    byte[]? Read(string name, int bytesMax);

    /// <summary>
    /// Says how others than the owner may get at a file ("its mode is 0644: …"); null when they cannot, or when it is not there.
    /// </summary>
    string? WhatIsOpen(string name);

    /// <summary>Returns the path of a file, for messages.</summary>
    string PathOf(string name);

    /// <summary>Writes a temporary file, flushes it, renames it over <paramref name="name"/> and flushes the directory.</summary>
    void Replace(string name, ReadOnlySpan<byte> content);

    /// <summary>
    /// Writes a temporary file, flushes it, links it to <paramref name="name"/> and flushes the directory. When the name exists it changes
    /// nothing and returns false.
    /// </summary>
    bool CreateNew(string name, ReadOnlySpan<byte> content);

    /// <summary>Removes a file if it is there.</summary>
    void Delete(string name);
}
