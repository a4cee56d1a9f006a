using System.Collections.Immutable;
using System.Globalization;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Ambrosia.ContractFile;

/// <summary>
/// Knows which assemblies of an app have to be followed: the handlers' own, those that name something which is judged, and those that lead
/// there. Most packages compute only, and are left out. What was seen of a file is kept from build to build, until the file is another one.
/// </summary>
/// <param name="file">Where it is kept; empty: nowhere.</param>
internal sealed class ForeignAssemblies(string file)
{
    private const char Between = '\t';

    private readonly Dictionary<string, SeenAssembly> _seen = Read(file);

    /// <summary>The number of files that were looked into, since they were not known.</summary>
    internal int Opened { get; private set; }

    /// <summary>Returns the paths of those that have to be followed, in the given order.</summary>
    internal IReadOnlyList<string> Followed(IReadOnlyList<string> paths, IReadOnlyCollection<string> trusted)
    {
        SeenAssembly[] all = [.. paths.Select(Look)];
        var followed = new HashSet<string>(all.Where(each => each.IsJudged && !ForeignCode.IsTrusted(each.Name, trusted)).Select(
            static each => each.Name));
        while (all.Where(each => !followed.Contains(each.Name) && !ForeignCode.IsTrusted(each.Name, trusted)
            && each.References.Any(followed.Contains)).ToList() is { Count: > 0 } leading)
            followed.UnionWith(leading.Select(static each => each.Name));
        if (file.Length > 0 && Opened > 0) Keep(all);
        return [.. paths.Where((_, i) => followed.Contains(all[i].Name))];
    }

    private SeenAssembly Look(string path)
    {
        var at = new FileInfo(path);
        if (_seen.TryGetValue(path, out SeenAssembly? known) && known.Length == at.Length && known.Written == at.LastWriteTimeUtc.Ticks)
            return known;
        Opened++;
        var seen = new SeenAssembly(path, at.Length, at.LastWriteTimeUtc.Ticks, "", false, []);
        using FileStream stream = File.OpenRead(path);
        using var image = new PEReader(stream);
        try
        {
            return image.HasMetadata && image.GetMetadataReader() is { IsAssembly: true } metadata ? Look(seen, metadata) : seen;
        }
        catch (BadImageFormatException)
        {
            return seen; // not an assembly
        }
    }

    private static SeenAssembly Look(SeenAssembly seen, MetadataReader metadata)
    {
        string[] references =
            [.. metadata.AssemblyReferences.Select(each => metadata.GetString(metadata.GetAssemblyReference(each).Name))];
        return seen with
        {
            Name = metadata.GetString(metadata.GetAssemblyDefinition().Name), References = [.. references],
            IsJudged = references.Contains("Ambrosia") || NamesWhatIsJudged(metadata),
        };
    }

    private static bool NamesWhatIsJudged(MetadataReader metadata)
    {
        foreach (MemberReferenceHandle each in metadata.MemberReferences)
        {
            MemberReference member = metadata.GetMemberReference(each);
            if (TypeOf(metadata, member.Parent) is { } type && ForeignCode.Judged(
                type, metadata.GetString(member.Name), ParametersOf(metadata, member), FirstOf(metadata, member)) is not null) return true;
        }
        return false;
    }

    /// <summary>Returns the name of a type of another assembly; null: it is none.</summary>
    private static string? TypeOf(MetadataReader metadata, EntityHandle parent)
    {
        if (parent.Kind == HandleKind.TypeSpecification)
        {
            BlobReader spelled = metadata.GetBlobReader(metadata.GetTypeSpecification((TypeSpecificationHandle)parent).Signature);
            if (spelled.ReadSignatureTypeCode() != SignatureTypeCode.GenericTypeInstance) return null;
            spelled.ReadSignatureTypeCode();
            parent = spelled.ReadTypeHandle();
        }
        if (parent.Kind != HandleKind.TypeReference) return null;
        TypeReference type = metadata.GetTypeReference((TypeReferenceHandle)parent);
        string name = metadata.GetString(type.Name);
        if (type.ResolutionScope.Kind == HandleKind.TypeReference) return $"{TypeOf(metadata, type.ResolutionScope)}.{name}";
        return type.Namespace.IsNil ? name : $"{metadata.GetString(type.Namespace)}.{name}";
    }

    /// <summary>Returns the number of parameters; null: it is a field.</summary>
    private static int? ParametersOf(MetadataReader metadata, MemberReference member)
    {
        if (member.GetKind() == MemberReferenceKind.Field) return null;
        BlobReader spelled = metadata.GetBlobReader(member.Signature);
        if (spelled.ReadSignatureHeader().IsGeneric) spelled.ReadCompressedInteger();
        return spelled.ReadCompressedInteger();
    }

    /// <summary>
    /// Returns the simple name of the first parameter's type, as far as the list needs it: a text. Any other is left out, and so more may
    /// be followed than has to be.
    /// </summary>
    private static string? FirstOf(MetadataReader metadata, MemberReference member)
    {
        if (member.GetKind() == MemberReferenceKind.Field) return null;
        BlobReader spelled = metadata.GetBlobReader(member.Signature);
        if (spelled.ReadSignatureHeader().IsGeneric) spelled.ReadCompressedInteger();
        if (spelled.ReadCompressedInteger() == 0 || spelled.ReadSignatureTypeCode() != SignatureTypeCode.Void) return null;
        return spelled.ReadSignatureTypeCode() == SignatureTypeCode.String ? "String" : null;
    }

    private void Keep(SeenAssembly[] all)
    {
        string temporary = $"{file}.{Environment.ProcessId}.tmp";
        File.WriteAllLines(temporary, all.Select(static each => string.Join(Between, [each.Path,
            each.Length.ToString(CultureInfo.InvariantCulture), each.Written.ToString(CultureInfo.InvariantCulture), each.Name,
            each.IsJudged ? "1" : "0", .. each.References])));
        File.Move(temporary, file, overwrite: true);
    }

    private static Dictionary<string, SeenAssembly> Read(string file)
    {
        Dictionary<string, SeenAssembly> seen = [];
        if (!File.Exists(file)) return seen;
        foreach (string[] parts in File.ReadLines(file).Select(static line => line.Split(Between)))
            if (parts.Length >= 5 && long.TryParse(parts[1], CultureInfo.InvariantCulture, out long length)
                && long.TryParse(parts[2], CultureInfo.InvariantCulture, out long written))
                seen[parts[0]] = new SeenAssembly(parts[0], length, written, parts[3], parts[4] == "1", [.. parts[5..]]);
        return seen;
    }

    /// <summary>It is what was seen of a file.</summary>
    /// <param name="Name">The assembly's name; empty: it is none.</param>
    /// <param name="IsJudged">Whether it has handlers, or names something that is judged.</param>
    private sealed record SeenAssembly(
        string Path, long Length, long Written, string Name, bool IsJudged, ImmutableArray<string> References);
}
