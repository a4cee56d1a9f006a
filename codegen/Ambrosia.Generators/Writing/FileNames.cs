using System;
using System.Collections.Generic;

namespace Ambrosia.Generators;

/// <summary>
/// Names of generated files: without the @ of names that are keywords, and different in more than the case of their letters,
/// as the compiler wants it.
/// </summary>
internal static class FileNames
{
    internal static IEnumerable<SourceFile<T>> Of<T>(IEnumerable<T> models, Func<T, string> nameOf)
        where T : IEquatable<T>
    {
        var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        foreach (T model in models)
        {
            string plain = nameOf(model).Replace("@", ""), name = plain;
            for (int copy = 2; !taken.Add(name); copy++) name = $"{plain}.{copy}";
            yield return new SourceFile<T>(name, model);
        }
    }
}
