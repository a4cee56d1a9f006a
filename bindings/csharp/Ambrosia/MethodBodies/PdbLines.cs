using System.Reflection.Metadata;

namespace Ambrosia.MethodBodies;

/// <summary>Finds the place in the sources that an instruction comes from, by a portable PDB.</summary>
/// <param name="readLine">A line of a source file, 1-based; null: the file is not there.</param>
internal sealed class PdbLines(MetadataReader pdb, Func<string, int, string?> readLine)
{
    private const int TextCharsMax = 200;

    internal AwaitSite SiteAt(MethodDefinitionHandle method, int state, int offset)
    {
        SequencePoint found = default;
        foreach (SequencePoint point in pdb.GetMethodDebugInformation(method.ToDebugInformationHandle()).GetSequencePoints())
            if (!point.IsHidden && point.Offset <= offset) found = point;
        if (found.Document.IsNil) return new AwaitSite(state, "", 0, "");
        string path = pdb.GetString(pdb.GetDocument(found.Document).Name);
        string text = readLine(path, found.StartLine)?.Trim() ?? "";
        return new AwaitSite(state, path[(path.LastIndexOfAny(['/', '\\']) + 1)..], found.StartLine,
            text.Length <= TextCharsMax ? text : text[..TextCharsMax]);
    }
}
