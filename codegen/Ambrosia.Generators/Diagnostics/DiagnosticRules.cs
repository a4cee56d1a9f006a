using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Diagnostics;

/// <summary>The rules that contracts, immortals and data types must keep. Each message says what is wrong and how to mend it.</summary>
internal static class DiagnosticRules
{
    internal static readonly DiagnosticDescriptor NotPartial = Rule(
        "AMB001", "The class of an immortal must be partial",
        "{0} must be declared partial, and the types around it too: its dispatch is generated into it");

    internal static readonly DiagnosticDescriptor NoContract = Rule(
        "AMB002", "The contract of an immortal is not found",
        "{0} derives from Immortal<{1}> but implements no interface {2}: add it to the class's base list");

    internal static readonly DiagnosticDescriptor Overload = Rule(
        "AMB003", "A contract has no overloads",
        "{0} has several methods named {1}: give each a name of its own, since a method's id is made of its name");

    internal static readonly DiagnosticDescriptor Generic = Rule(
        "AMB004", "A contract is not generic", "{0} is generic: a contract's methods and types are closed, so write one for each type");

    internal static readonly DiagnosticDescriptor ByReference = Rule(
        "AMB005", "Parameters travel by value", "Parameter {1} of {0} is ref, out or in: pass a value, and return what comes back");

    internal static readonly DiagnosticDescriptor Parameter = Rule(
        "AMB006", "The parameter's type cannot travel",
        "Parameter {1} of {0} is a {2}, which cannot travel{3}: use numbers, text, bytes, dates, enums, arrays, lists, dictionaries, tuples, a type marked [Data], or a union whose cases are numbered by [Case]");

    internal static readonly DiagnosticDescriptor Result = Rule(
        "AMB007", "The result's type cannot travel",
        "{0} returns a {1}, which cannot travel{2}: use numbers, text, bytes, dates, enums, arrays, lists, dictionaries, tuples, a type marked [Data], or a union whose cases are numbered by [Case]");

    internal static readonly DiagnosticDescriptor Task = Rule(
        "AMB008", "A handler that awaits returns Call",
        "{0} returns {1}: return Call or Call<T>, whose waiting is part of what the log replays");

    internal static readonly DiagnosticDescriptor NotAMethod = Rule(
        "AMB009", "A contract has methods only", "{0} is a {1}: a contract has instance methods only, so make it a method");

    internal static readonly DiagnosticDescriptor Id = Rule(
        "AMB010", "Method ids are unique", "{0} has the id 0x{1}, {2}: give it a free one between 1 and 2147483391 with [MethodId]");

    internal static readonly DiagnosticDescriptor ImpulseResult = Rule(
        "AMB011", "An impulse handler returns nothing",
        "{0} is an impulse handler and returns a value, for which nobody outside waits: return void or Call");

    internal static readonly DiagnosticDescriptor Nested = Rule(
        "AMB012", "A contract stands in a namespace", "{0} is nested in {1}: move it out, since its proxy stands beside it");

    internal static readonly DiagnosticDescriptor CannotMake = Rule(
        "AMB013", "The class of an immortal must be makeable",
        "{0} {1}: an immortal is a class that is not generic and has a constructor without parameters");

    internal static readonly DiagnosticDescriptor Data = Rule(
        "AMB014", "The data type cannot travel", "{0} is marked [Data] but {1}");

    internal static readonly DiagnosticDescriptor NoProxy = Rule(
        "AMB015", "The contract's assembly has no proxy",
        "{0} is declared in {1}, which holds no {2}: mark the interface [Contract] there and reference the generator in that project");

    internal static readonly DiagnosticDescriptor Query = Rule(
        "AMB016", "A query reads and answers at once",
        "{0} is a query and {1}: return the value itself, and change, send and await nothing; a method that must is no query");

    internal static readonly DiagnosticDescriptor TakenName = Rule(
        "AMB017", "Names of generated code are free", "{0} takes the name {1}, which generated code needs: choose another");

    internal static readonly DiagnosticDescriptor Union = Rule(
        "AMB018", "The cases of a union can travel",
        "{0}: a union in a contract has cases of numbers of their own, each a class or struct marked [Data] that derives from it");

    internal static readonly DiagnosticDescriptor Failure = Rule(
        "AMB019", "A failure of a contract arrives whole",
        "{0} throws {1}, but {2}: name an exception with a public constructor that takes its message, and without state of its own");

    internal static readonly DiagnosticDescriptor TypeArgument = Rule(
        "AMB020", "A generic data type is used with types that travel",
        "{0}: give it type arguments that travel, since each use of a generic data type is a data type of its own");

    internal static readonly DiagnosticDescriptor Language = Rule(
        "AMB021", "The project's C# is new enough",
        "The project is compiled as C# {0}, and what is generated for it is C# 12: remove LangVersion from the project, or give it 12 or later");

    /// <summary>Finds a rule by its id: a <see cref="DiagnosticInfo"/> keeps only the id.</summary>
    internal static readonly IReadOnlyDictionary<string, DiagnosticDescriptor> ById = new[]
    {
        NotPartial, NoContract, Overload, Generic, ByReference, Parameter, Result, Task, NotAMethod, Id, ImpulseResult, Nested, CannotMake,
        Data, NoProxy, Query, TakenName, Union, Failure, TypeArgument, Language,
    }.ToDictionary(rule => rule.Id);

    private static DiagnosticDescriptor Rule(string id, string title, string message) =>
        new(id, title, message, "Ambrosia", DiagnosticSeverity.Error, isEnabledByDefault: true);
}
