namespace System.Runtime.CompilerServices;

/// <summary>netstandard2.0 lacks what the compiler needs for init-only members of records.</summary>
internal static class IsExternalInit;
