namespace System.Runtime.CompilerServices;

/// <summary>The compiler needs this type for init-only members of records, and netstandard2.0 lacks it.</summary>
internal static class IsExternalInit;
