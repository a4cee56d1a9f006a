using System.Collections.Generic;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>It is something in a body that handlers may not do. Whether a handler reaches the body is another question.</summary>
/// <param name="What">What stands there, in the words of the code.</param>
/// <param name="Mend">What to do instead.</param>
internal sealed record Fault(string Rule, Location Place, string What, string Mend);

/// <summary>
/// It leads from a body to what the body calls: a method, a local function, a lambda, or a static field whose initializer runs.
/// </summary>
/// <param name="Receiver">The static type of the object that is called; null where there is none.</param>
/// <param name="IsVirtual">True where the object decides which method runs.</param>
/// <param name="IsOfState">True where that object is a part of the immortal's state.</param>
internal sealed record CallEdge(ISymbol Target, ITypeSymbol? Receiver = null, bool IsVirtual = false, bool IsOfState = false);

/// <summary>It says how a body uses the state, or what is for handlers alone.</summary>
internal enum StateUseKind
{
    /// <summary>The body reads a field of the immortal.</summary>
    Read,

    /// <summary>The body changes the state.</summary>
    Write,

    /// <summary>The body changes the object whose method it is, which may be a part of the state.</summary>
    WriteOfSelf,

    /// <summary>The body sends a message, waits, or begins a timer or task.</summary>
    Send,

    /// <summary>The body asks for what handlers alone may have: the time of the record, its random numbers, a proxy.</summary>
    HandlerOnly,
}

/// <summary>It is a place where a body uses the state.</summary>
internal sealed record StateUse(StateUseKind Kind, Location Place, string What);

/// <summary>It holds everything that the rules want to know of one body.</summary>
internal sealed class MethodFacts
{
    internal static readonly MethodFacts None = new();

    internal List<Fault> Faults { get; } = [];

    internal List<CallEdge> Calls { get; } = [];

    /// <summary>The bodies that are given to a NondetTask, and so run outside of the handlers.</summary>
    internal List<CallEdge> Tasks { get; } = [];

    internal List<StateUse> Uses { get; } = [];
}
