namespace Ambrosia.Log;

/// <summary>The name is taken.</summary>
public sealed class FileExistsException(string path) : IOException($"{path} exists already");
