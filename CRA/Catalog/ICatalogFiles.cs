namespace CRA;

/// <summary>
/// The directory of small files under <see cref="DirectoryCatalog"/>. Names are plain file names. Whoever implements it makes the
/// directory with mode 0700 and every file with mode 0600, independently of the umask. Any failure not named is an
/// <see cref="IOException"/>.
/// </summary>
public interface ICatalogFiles
{
    /// <summary>
    /// Names in the directory, in any order; temporary files of this interface begin with a dot. Empty when there is no directory.
    /// </summary>
    IReadOnlyList<string> List();

    /// <summary>The first <paramref name="bytesMax"/> bytes of a file (all, when it is shorter), or null when it is not there.</summary>
    byte[]? Read(string name, int bytesMax);

    /// <summary>How others than the owner may get at a file ("its mode is 0644: …"); null when they cannot, or it is not there.</summary>
    string? WhatIsOpen(string name);

    /// <summary>Where a file is, for messages.</summary>
    string PathOf(string name);

    /// <summary>Writes a temporary file, flushes it, renames it over <paramref name="name"/> and flushes the directory.</summary>
    void Replace(string name, ReadOnlySpan<byte> content);

    /// <summary>
    /// Writes a temporary file, flushes it, links it to <paramref name="name"/> and flushes the directory; false, with nothing
    /// changed, when the name exists.
    /// </summary>
    bool CreateNew(string name, ReadOnlySpan<byte> content);

    /// <summary>Removes a file; nothing when it is not there.</summary>
    void Delete(string name);
}
