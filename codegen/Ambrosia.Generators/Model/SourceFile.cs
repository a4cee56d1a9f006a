using System;

namespace Ambrosia.Generators;

/// <summary>A file to be generated: its name, and what it is made of.</summary>
internal sealed record SourceFile<T>(string Name, T Model)
    where T : IEquatable<T>;
