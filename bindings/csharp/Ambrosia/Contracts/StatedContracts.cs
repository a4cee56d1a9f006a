using System.Collections.Concurrent;
using System.Reflection;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Contracts;

/// <summary>
/// Finds the contract manifests that a session states (protocol P5.21): that of the immortal's assembly, and those of the assemblies that
/// it refers to, where contracts may stand alone. Any thread may call it.
/// </summary>
internal static class StatedContracts
{
    private static readonly ConcurrentDictionary<Assembly, IReadOnlyList<byte[]>> s_byAssembly = new();

    internal static IReadOnlyList<byte[]> Of(Type immortal) => s_byAssembly.GetOrAdd(immortal.Assembly, static assembly =>
    {
        HashSet<string?> referred = [.. assembly.GetReferencedAssemblies().Select(static name => name.Name)];
        IEnumerable<Assembly> others = AppDomain.CurrentDomain.GetAssemblies()
            .Where(other => other != assembly && referred.Contains(other.GetName().Name))
            .OrderBy(static other => other.FullName, StringComparer.Ordinal);
        return [.. others.Prepend(assembly).Select(ManifestOf).OfType<byte[]>()];
    });

    /// <summary>
    /// Returns null where there is none, or one that is too long to be stated: it helps people, and nothing depends on it.
    /// </summary>
    private static byte[]? ManifestOf(Assembly assembly) =>
        assembly.GetCustomAttribute<ContractManifestAttribute>() is { } manifest
        && Utf8Text.Shown(manifest.Json) is { Length: > 0 and <= ContractFrame.BytesMax } json ? json : null;
}
