using System;

namespace Ambrosia.Generators;

/// <summary>What reading a symbol gave: a model, reasons why not (or not all of it), or both.</summary>
internal sealed record Found<T>(T? Model, EquatableArray<DiagnosticInfo> Diagnostics)
    where T : class, IEquatable<T>;
