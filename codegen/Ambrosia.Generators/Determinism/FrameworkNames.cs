using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Ambrosia.Generators.Determinism;

/// <summary>Says that a member of the framework is not for handlers.</summary>
/// <param name="Rule">The id of the rule; empty where the member is allowed though what contains it is not.</param>
/// <param name="Mend">What to use instead.</param>
internal sealed record Verdict(string Rule, string Mend);

/// <summary>
/// Holds the list of what of the framework is no function of the log (framework.txt), by names. The step behind the compiler uses it, too,
/// and so it knows no symbols. It is read once a process, and any thread may ask.
/// </summary>
internal static class FrameworkNames
{
    private const string Resource = "framework.txt", Allow = "allow";

    private static readonly Dictionary<string, Verdict> s_byName = Read();

    /// <summary>Returns the verdict of a member; null where the list does not forbid it.</summary>
    /// <param name="type">The name of its type, with the namespace, without the count of type parameters.</param>
    /// <param name="parameters">Their number; null: it is no method.</param>
    /// <param name="first">The simple name of the first parameter's type.</param>
    internal static Verdict? Of(string type, string member, int? parameters, string? first)
    {
        string full = $"{type}.{member}";
        Verdict? found = (parameters is null ? null : Find($"{full}/{parameters}")) ?? (first is null ? null : Find(
            $"{full}/{first}")) ?? Find(full);
        for (string at = type; found is null && at.Length > 0; at = at.Substring(0, Math.Max(0, at.LastIndexOf('.')))) found = Find(at);
        return found is { Rule.Length: > 0 } ? found : null;
    }

    private static Verdict? Find(string name) => s_byName.TryGetValue(name, out Verdict? found) ? found : null;

    private static Dictionary<string, Verdict> Read()
    {
        using Stream stream = typeof(FrameworkNames).Assembly.GetManifestResourceStream(Resource)!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().Split('\n').Select(static line => line.Trim())
            .Where(static line => line.Length > 0 && line[0] != '#')
            .Select(static line => line.Split(new[] { ' ' }, 3, StringSplitOptions.RemoveEmptyEntries))
            .ToDictionary(static parts => parts[1],
                static parts => new Verdict(parts[0] == Allow ? "" : parts[0], parts.Length > 2 ? parts[2].Trim() : ""));
    }
}
