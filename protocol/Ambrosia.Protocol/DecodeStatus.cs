namespace Ambrosia.Protocol;

/// <summary>What came of decoding the front of a stretch of bytes that may still grow.</summary>
public enum DecodeStatus { Ok, NeedMore, Malformed }
