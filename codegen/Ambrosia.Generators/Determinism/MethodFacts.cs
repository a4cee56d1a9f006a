using System.Collections.Generic;
using System.Linq;
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
/// <param name="Given">What the called method is given of the state, or of what this body was given.</param>
internal sealed record CallEdge(
    ISymbol Target, ITypeSymbol? Receiver = null, bool IsVirtual = false, IReadOnlyList<GivenObject>? Given = null)
{
    internal CallEdge In(Counterparts other) => new(other.Of(Target), Receiver is null ? null : other.Of(Receiver), IsVirtual,
        Given?.Select(each => each with { Origin = each.Origin.In(other) }).ToList());
}

/// <summary>
/// It says where an object in a body comes from: it is a part of the immortal's state, or the callers know, since it is a part of what
/// they gave to a slot.
/// </summary>
/// <param name="Slot">
/// 0 is the object whose method it is, and the parameters follow from 1; <see cref="State"/>: it is of the state.
/// </param>
/// <param name="By">The methods that gave it out: what they return may be a copy. Null: it was reached by fields alone.</param>
internal readonly record struct ObjectOrigin(int Slot, GivenOut? By = null)
{
    internal const int State = -1, SlotMax = 63;

    internal static readonly ObjectOrigin OfState = new(State), OfThis = new(0);

    internal ObjectOrigin In(Counterparts other) => By is null ? this : this with { By = By.In(other) };

    /// <summary>Tells whether the object is of the state where these slots are, if it is no copy.</summary>
    internal bool IsOfState(ulong slots) => Slot == State || (slots >> Slot & 1) != 0;
}

/// <summary>It is a method of the app that gave out an object.</summary>
/// <param name="Before">The one that gave out the object whose method it is.</param>
internal sealed record GivenOut(IMethodSymbol Method, GivenOut? Before)
{
    internal GivenOut In(Counterparts other) => new(other.Of(Method), Before?.In(other));
}

/// <summary>It is an object that a call gives to a slot of the called method.</summary>
internal readonly record struct GivenObject(int Slot, ObjectOrigin Origin);

/// <summary>It says how a body uses the state, or what is for handlers alone.</summary>
internal enum StateUseKind
{
    /// <summary>The body reads a field of the immortal.</summary>
    Read,

    /// <summary>The body changes the state.</summary>
    Write,

    /// <summary>The body sends a message, waits, or begins a timer or task.</summary>
    Send,

    /// <summary>The body asks for what handlers alone may have: the time of the record, its random numbers, a proxy.</summary>
    HandlerOnly,
}

/// <summary>It is a place where a body uses the state, or an object which is a part of it if the callers gave one.</summary>
internal sealed record StateUse(StateUseKind Kind, Location Place, string What, ObjectOrigin Origin);

/// <summary>It holds everything that the rules want to know of one body.</summary>
internal sealed class MethodFacts
{
    internal static readonly MethodFacts None = new();

    internal List<Fault> Faults { get; } = [];

    internal List<CallEdge> Calls { get; } = [];

    /// <summary>The bodies that are given to a NondetTask, and so run outside of the handlers.</summary>
    internal List<CallEdge> Tasks { get; } = [];

    internal List<StateUse> Uses { get; } = [];

    /// <summary>The origins of the objects that it returns; those that it makes have none.</summary>
    internal List<ObjectOrigin> Returned { get; } = [];

    /// <summary>The members with [NotState] that it counts.</summary>
    internal List<ISymbol> Counted { get; } = [];

    /// <summary>The numbers of members with [NotState] that it sends: faults if any body counts the member.</summary>
    internal List<(ISymbol Member, Fault Fault)> Sent { get; } = [];

    /// <summary>Returns the same facts in the words of another compilation.</summary>
    internal MethodFacts In(Counterparts other)
    {
        var facts = new MethodFacts();
        facts.Faults.AddRange(Faults);
        facts.Calls.AddRange(Calls.Select(each => each.In(other)));
        facts.Tasks.AddRange(Tasks.Select(each => each.In(other)));
        facts.Uses.AddRange(Uses.Select(each => each.Origin.By is null ? each : each with { Origin = each.Origin.In(other) }));
        facts.Counted.AddRange(Counted.Select(other.Of));
        facts.Sent.AddRange(Sent.Select(each => (other.Of(each.Member), each.Fault)));
        facts.Returned.AddRange(Returned.Select(each => each.In(other)));
        return facts;
    }
}
