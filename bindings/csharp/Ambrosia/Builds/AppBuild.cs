using System.Collections.Concurrent;
using System.Reflection;
using System.Text.Json;

namespace Ambrosia.Builds;

/// <summary>
/// The build that this process runs: the name of the build, and the document of what its handlers may execute (docs/contract.md C4). Any
/// thread may call it.
/// </summary>
internal sealed class AppBuild
{
    /// <summary>The length of a build's name.</summary>
    internal const int BuildBytes = 16;

    /// <summary>An app of more than this is not read when it starts: 64 MiB of assemblies take some seconds.</summary>
    private const long BytesMax = 64 << 20;

    private static readonly ConcurrentDictionary<Assembly, AppBuild?> s_known = new();

    private AppBuild(string build, byte[] methods) => (Build, Methods) = (Convert.FromHexString(build), methods);

    /// <summary>The name of the build: 16 bytes, equal for equal code wherever and whenever it was compiled.</summary>
    internal ReadOnlyMemory<byte> Build { get; }

    /// <summary>The document, in UTF-8.</summary>
    internal ReadOnlyMemory<byte> Methods { get; }

    /// <summary>
    /// Returns the build of this app: from the file that the build step wrote beside it, if that is of exactly these assemblies, else from
    /// the assemblies. Null where there are no files to read, or too many.
    /// </summary>
    /// <param name="immortal">The assembly of the immortal, which may have been loaded from a place of its own.</param>
    internal static AppBuild? OfThisApp(Assembly immortal) => s_known.GetOrAdd(immortal, Read);

    /// <param name="paths">The files of the app's assemblies.</param>
    /// <param name="document">The file that a build step may have written.</param>
    internal static AppBuild? Of(IReadOnlyList<string> paths, string document) =>
        FromFile(paths, document) ?? (paths.Sum(static path => new FileInfo(path).Length) <= BytesMax ? Computed(paths) : null);

    private static AppBuild Computed(IReadOnlyList<string> paths)
    {
        BuildDocument computed = BuildReader.Read(paths);
        return new AppBuild(computed.Build, computed.ToJson());
    }

    private static AppBuild? FromFile(IReadOnlyList<string> paths, string document)
    {
        try
        {
            if (!File.Exists(document) || new FileInfo(document).Length > BuildDocument.BytesMax) return null;
            byte[] json = File.ReadAllBytes(document);
            return BuildDocument.BuildOf(json, BuildFileId.Of(paths)) is { } build ? new AppBuild(build, json) : null;
        }
        catch (Exception e) when (e is JsonException or IOException or UnauthorizedAccessException)
        {
            return null; // the assemblies say the same
        }
    }

    private static AppBuild? Read(Assembly immortal)
    {
        try
        {
            if (AppFiles.OfThisApp(immortal.Location) is not { } paths || Assembly.GetEntryAssembly()?.GetName().Name is not { } name)
                return null;
            return Of(paths, Path.Combine(AppContext.BaseDirectory, name + BuildDocument.Suffix));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException or JsonException)
        {
            return null;
        }
    }
}
