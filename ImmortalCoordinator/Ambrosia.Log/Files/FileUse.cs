namespace Ambrosia.Log;

/// <summary>What an open file is for.</summary>
public enum FileUse { Read, ReadWrite }
