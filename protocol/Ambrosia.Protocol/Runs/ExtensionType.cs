namespace Ambrosia.Protocol;

/// <summary>Types of extension blocks with a meaning (protocol P3.7); all others are carried untouched.</summary>
public enum ExtensionType : ulong { TraceContext = 1, FailureStack = 2, ObjectKey = 3, BucketEpoch = 4 }
