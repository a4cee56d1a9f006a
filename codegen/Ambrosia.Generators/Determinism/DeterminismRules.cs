using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>
/// The rules that handlers keep, so that a replay does what was done. In each message {0} is what stands there, {1} the way from a handler
/// to it, and {2} what to use instead. docs/analyzers has a page for each.
/// </summary>
internal static class DeterminismRules
{
    private const string Category = "Ambrosia.Determinism";

    private static readonly DiagnosticDescriptor s_clock = Rule(
        "AMB101", "Handlers read no clock", "{0} is another time at every replay. It is executed by {1}. Use {2}."),
        s_chance = Rule("AMB102", "Handlers draw no random numbers of their own", "{0} is chance that no log holds. It is executed by {1}. Use {2}."),
        s_guid = Rule("AMB103", "Handlers make Guids by NewGuid()", "{0} is another one at every replay. It is executed by {1}. Use {2}."),
        s_threads = Rule("AMB104", "Handlers start, wait for and lock nothing", "{0} brings another thread or timer in, whose order no log holds. It is executed by {1}. Use {2}."),
        s_await = Rule("AMB105", "Handlers await Calls alone", "{0} is completed outside of the log. It is executed by {1}. Use {2}."),
        s_outside = Rule("AMB106", "Handlers do not ask the world outside", "{0} may answer otherwise at a replay. It is executed by {1}. Use {2}."),
        s_statics = Rule("AMB107", "Handlers use no statics that change", "{0} is in no checkpoint and is another one in each process. It is executed by {1}. Use {2}."),
        s_ambient = Rule("AMB108", "Handlers use nothing ambient or dynamic", "{0} is not part of the state and cannot be followed. It is executed by {1}. Use {2}."),
        s_order = Rule("AMB109", "Handlers enumerate in no order of hash codes", "{0} differs between processes. It is executed by {1}. Use {2}."),
        s_hash = Rule("AMB110", "Handlers use no hash codes", "{0} differs between processes. It is executed by {1}. Use {2}."),
        s_culture = Rule("AMB111", "Handlers do not depend on a culture", "{0} depends on the machine's settings. It is executed by {1}. Use {2}."),
        s_memory = Rule("AMB112", "Handlers do not observe the garbage collector", "{0} depends on when memory is collected. It is executed by {1}. Use {2}."),
        s_services = Rule("AMB113", "Handlers ask for no services", "{0} gives what no log holds. It is executed by {1}. Use {2}."),
        s_stated = Rule("AMB114", "Handlers use nothing that its author calls nondeterministic", "{0} is marked [NonDeterministic]. It is executed by {1}. Use {2}."),
        s_processor = Rule("AMB115", "Handlers do not ask for the processor", "{0} depends on the processor. It is executed by {1}. Use {2}."),
        s_leftOut = Rule("AMB116", "What is counted outside of the state is not sent", "{0} begins anew behind each restart. It is executed by {1}. Use {2}."),
        s_logged = Rule("AMB123", "Handlers send no impulses", "{0} is refused in handlers. It is executed by {1}. Use {2}."),
        s_task = Rule("AMB124", "The body of a task does not touch the state", "{0} is of the handlers' thread, and the body of a task, or WhilePrimary, runs beside it. It is executed by {1}. Use {2}."),
        s_query = Rule("AMB125", "A query reads and answers at once", "{0} changes, sends or waits, and a query is in no log. It is executed by {1}. Use {2}."),
        s_loop = Rule("AMB126", "A loop over an await enumerates an array or a list", "{0} has an enumerator that no checkpoint holds. It is executed by {1}. Use {2}.");

    /// <summary>Finds a rule by its id.</summary>
    internal static readonly IReadOnlyDictionary<string, DiagnosticDescriptor> ById = new[]
    {
        s_clock, s_chance, s_guid, s_threads, s_await, s_outside, s_statics, s_ambient, s_order, s_hash, s_culture, s_memory, s_services,
        s_stated, s_processor, s_leftOut, s_logged, s_task, s_query, s_loop,
    }.ToDictionary(static rule => rule.Id);

    internal static readonly ImmutableArray<DiagnosticDescriptor> All = [.. ById.Values];

    private static DiagnosticDescriptor Rule(string id, string title, string message) =>
        new(id, title, message, Category, DiagnosticSeverity.Error, isEnabledByDefault: true);
}
