using System.Collections;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Resources;

namespace Ambrosia.Failures;

/// <summary>
/// Reads the texts of the framework's exceptions, which lie in its assemblies as resources. What is read does not depend on what the
/// process has loaded so far: it is what the host offers to the runtime, so two replicas on one runtime read the same.
/// </summary>
internal static class FrameworkTexts
{
    /// <summary>Returns all texts of the class library. Nothing: the framework was trimmed of them.</summary>
    /// <exception cref="IOException">A file cannot be read, so which words are the framework's is not known, and the process had better
    /// end: another replica knows.</exception>
    internal static IEnumerable<FrameworkText> All() => typeof(object).Assembly.Location.Length > 0
        ? InFiles(AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES") as string ?? "")
        : OfReferences(Assembly.GetEntryAssembly() ?? typeof(FrameworkTexts).Assembly);

    /// <summary>Returns the texts of an app in one file, in which no list names the assemblies: those that its own lead to.</summary>
    internal static IEnumerable<FrameworkText> OfReferences(Assembly app)
    {
        HashSet<string> met = [app.GetName().Name!];
        var next = new Queue<Assembly>([app]);
        while (next.TryDequeue(out Assembly? assembly))
        {
            foreach (FrameworkText text in InLoaded(assembly)) yield return text;
            foreach (AssemblyName name in assembly.GetReferencedAssemblies())
                if (met.Add(name.Name!) && Loaded(name) is { } reference) next.Enqueue(reference);
        }
    }

    private static IEnumerable<FrameworkText> InFiles(string all)
    {
        foreach (string file in all.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
        {
            string name = Path.GetFileNameWithoutExtension(file);
            if (!IsOfClassLibrary(name)) continue;
            foreach (FrameworkText text in InFile(file, name)) yield return text;
        }
    }

    /// <summary>
    /// Says whether a name is one of the class library. Libraries for the web are left out, whose texts are much like those of apps ("User
    /// bob does not exist."), and which an app may have by its framework or as packages.
    /// </summary>
    private static bool IsOfClassLibrary(string name) => name.StartsWith("System.", StringComparison.Ordinal)
        || name.StartsWith("Microsoft.Win32.", StringComparison.Ordinal) || name is "Microsoft.CSharp" or "Microsoft.VisualBasic.Core";

    /// <summary>Reads an assembly as a file: nothing of it is loaded.</summary>
    private static List<FrameworkText> InFile(string file, string name)
    {
        var found = new List<FrameworkText>();
        using FileStream stream = File.OpenRead(file);
        using var image = new PEReader(stream);
        if (!image.HasMetadata) return found;
        MetadataReader metadata = image.GetMetadataReader();
        if (!metadata.IsAssembly) return found;
        if (!FrameworkAssemblies.IsKey(metadata.GetAssemblyDefinition().GetAssemblyName().GetPublicKeyToken())) return found;
        PEMemoryBlock section = image.GetSectionData(image.PEHeaders.CorHeader!.ResourcesDirectory.RelativeVirtualAddress);
        foreach (ManifestResourceHandle handle in metadata.ManifestResources)
        {
            ManifestResource resource = metadata.GetManifestResource(handle);
            if (!resource.Implementation.IsNil || !IsTexts(metadata.GetString(resource.Name))) continue;
            BlobReader bytes = section.GetReader((int)resource.Offset, section.Length - (int)resource.Offset);
            Read(new MemoryStream(bytes.ReadBytes(bytes.ReadInt32())), name, found);
        }
        return found;
    }

    private static List<FrameworkText> InLoaded(Assembly assembly)
    {
        var found = new List<FrameworkText>();
        AssemblyName name = assembly.GetName();
        if (!IsOfClassLibrary(name.Name!) || !FrameworkAssemblies.IsKey(name.GetPublicKeyToken())) return found;
        foreach (string resource in assembly.GetManifestResourceNames().Where(IsTexts))
        {
            using Stream? stream = assembly.GetManifestResourceStream(resource);
            if (stream is not null) Read(stream, name.Name!, found);
        }
        return found;
    }

    private static Assembly? Loaded(AssemblyName name)
    {
        try
        {
            return Assembly.Load(name);
        }
        catch (FileNotFoundException)
        {
            return null; // a reference that nobody follows, or one that the app was trimmed of
        }
    }

    private static bool IsTexts(string resource) => resource.EndsWith(".resources", StringComparison.Ordinal);

    private static void Read(Stream stream, string assembly, List<FrameworkText> found)
    {
        using var reader = new ResourceReader(stream);
        foreach (DictionaryEntry entry in reader)
            if (entry.Value is string text) found.Add(new FrameworkText(assembly, (string)entry.Key, text));
    }
}

/// <summary>Is one text of the framework, as its resource has it: with <c>{0}</c> where a value goes.</summary>
internal readonly record struct FrameworkText(string Assembly, string Key, string Text);
