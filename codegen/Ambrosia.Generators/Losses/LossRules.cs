using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Losses;

/// <summary>
/// Lists the rules about values that would be lost in silence: on the wire, in a checkpoint, or in a Call that nobody awaits.
/// </summary>
internal static class LossRules
{
    internal static readonly DiagnosticDescriptor Dropped = Rule("AMB121", "A Call is awaited, kept or returned",
        "The outcome of {0} is lost, and its failure too: {1}"),
        AwaitedTwice = Rule("AMB122", "A Call is awaited once", "{0} may be awaited a second time here, which fails: await it once and keep the result in a variable"),
        Local = Rule("AMB127", "A checkpoint can hold what a suspended method holds",
            "No checkpoint can hold {0}, a {1}, while {2} awaits: {3}. Or move what needs it into a method that does not await."),
        Kept = Rule("AMB128", "A kept body is the former one of a method",
            "{0} cannot keep the former body of {1}: {2}."),
        Field = Rule("AMB131", "A checkpoint can hold the state", "No checkpoint can hold {0}, a {1}: {2}. Or mark it [NotState] where it can be made again."),
        LeftOut = Rule("AMB134", "What is left out of the state is made where it is needed",
            "{0} is [NotState] and {1}, which no restore repeats: it is {2} behind one. Make it where it is needed: {3}"),
        Claimed = Rule("AMB135", "A former name goes on in one member",
            "{0} and {1} both say that they were {2}, so a checkpoint of a build before cannot be restored: take [FormerlyNamed] from one of them"),
        Answer = Rule("AMB133", "What is looked for in an answer is its value",
            "{0} is a {1}, which always is there: look at its Value, which may be null"),
        Member = Rule("AMB132", "All of a [Data] type travels",
            "{0} is lost when a {1} travels: {2}. Mark it [NotState] where that is meant.");

    private static DiagnosticDescriptor Rule(string id, string title, string message) =>
        new(id, title, message, "Ambrosia.Losses", DiagnosticSeverity.Error, isEnabledByDefault: true);
}
