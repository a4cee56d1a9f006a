using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.Json;
using Ambrosia.Failures;

namespace Ambrosia.Builds;

/// <summary>Finds the files of the app's assemblies: all that the host offers to the runtime, except the framework's.</summary>
internal static class AppFiles
{
    /// <summary>
    /// Returns the files of this process, by name; null where the app is not made of files, as in a single-file app. Where the immortal was
    /// loaded from a directory that the host does not know, what lies beside it is of the app, too.
    /// </summary>
    /// <param name="immortal">The file of the immortal's assembly; empty: it was loaded from none.</param>
    internal static IReadOnlyList<string>? OfThisApp(string immortal)
    {
        string core = typeof(object).Assembly.Location;
        if (core.Length == 0 || immortal.Length == 0 || AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES") is not string all) return null;
        string deps = AppContext.GetData("APP_CONTEXT_DEPS_FILES") as string ?? "";
        string[] files = all.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries);
        if (!files.Contains(immortal)) files = [.. files, .. Directory.GetFiles(Path.GetDirectoryName(immortal)!, "*.dll")];
        files = [.. files.DistinctBy(Path.GetFileName)];
        return Array.TrueForAll(files, File.Exists)
            ? WithoutFramework(files, core, deps.Split(';', StringSplitOptions.RemoveEmptyEntries)) : null;
    }

    /// <param name="core">The file of the framework's innermost assembly.</param>
    /// <param name="deps">The files that say which package an assembly is of; of a self-contained app they name the framework.</param>
    internal static IReadOnlyList<string> WithoutFramework(IReadOnlyList<string> files, string core, IReadOnlyList<string> deps)
    {
        Func<string, bool> isFramework;
        // The innermost assembly lies in a folder of its version, in one of its framework, in one that all frameworks share.
        string? shared = Path.GetDirectoryName(Path.GetDirectoryName(Path.GetDirectoryName(core)));
        if (shared is not null && Path.GetFileName(shared) == "shared")
            isFramework = file => file.StartsWith(shared + Path.DirectorySeparatorChar, StringComparison.Ordinal);
        else if (RuntimePackOf(deps) is { Count: > 0 } names) isFramework = file => names.Contains(Path.GetFileName(file));
        else isFramework = IsSignedAsFramework;
        return [.. files.Where(file => !isFramework(file)).OrderBy(Path.GetFileName, StringComparer.Ordinal)];
    }

    private static HashSet<string> RuntimePackOf(IReadOnlyList<string> deps)
    {
        HashSet<string> names = [];
        foreach (string file in deps)
        {
            if (!File.Exists(file)) continue;
            using JsonDocument document = JsonDocument.Parse(File.ReadAllBytes(file));
            if (!document.RootElement.TryGetProperty("targets", out JsonElement targets)) continue;
            foreach (JsonProperty library in targets.EnumerateObject().SelectMany(static target => target.Value.EnumerateObject()))
                if (library.Name.StartsWith("runtimepack.", StringComparison.Ordinal)
                    && library.Value.TryGetProperty("runtime", out JsonElement runtime))
                    names.UnionWith(runtime.EnumerateObject().Select(static asset => Path.GetFileName(asset.Name)));
        }
        return names;
    }

    /// <summary>Reads the signature, where no other file tells which assemblies are the framework's.</summary>
    private static bool IsSignedAsFramework(string file)
    {
        using FileStream stream = File.OpenRead(file);
        using var image = new PEReader(stream);
        if (!image.HasMetadata) return false;
        MetadataReader metadata = image.GetMetadataReader();
        if (!metadata.IsAssembly || metadata.GetAssemblyDefinition().PublicKey.IsNil) return false;
        return FrameworkAssemblies.IsKey(metadata.GetAssemblyDefinition().GetAssemblyName().GetPublicKeyToken());
    }
}
