using Ambrosia.Protocol.Frames;

namespace Ambrosia.Suspension.App;

/// <summary>
/// Restores what <see cref="ShapeWriter"/> wrote: the image must come out again with the same bytes, and the rest of the run must say the
/// same. One line for each image: <c>same</c>, <c>refused</c> with the reasons between bars, or what is wrong.
/// </summary>
internal sealed class ShapeReader(ImmortalDefinition definition, string directory)
{
    public void ReadAll()
    {
        foreach (string file in Directory.EnumerateFiles(directory, "*.image").Order(StringComparer.Ordinal))
        {
            string name = Path.GetFileNameWithoutExtension(file);
            Console.WriteLine(
                $"{name.Replace('.', ' ')} {Read(Path.Combine(directory, name), name.Contains(ShapeWriter.Orders[1], StringComparison.Ordinal))}");
        }
    }

    private string Read(string file, bool newest)
    {
        byte[] image = File.ReadAllBytes($"{file}.image");
        string[] pending = File.ReadAllLines($"{file}.pending");
        var rig = new Rig(definition, image, pending.Skip(1), ulong.Parse(pending[0]));
        if (rig.End is { } end)
            return end.Code == GoodbyeCode.Refused
                ? $"refused {string.Join(" | ", rig.Lines.SelectMany(static line => line.Split('\n')))}" : $"ended: {end.Why}";
        byte[]? again = rig.Image();
        if (again is null) return $"cannot be written again: {rig.Void}";
        if (!image.AsSpan().SequenceEqual(again)) return "its image has other bytes";
        ShapeWriter.Finish(rig, newest);
        string[] rest = File.ReadAllLines($"{file}.rest");
        return rig.Said.SequenceEqual(rest) ? "same" : $"differs: {string.Join(" / ", rig.Said)} instead of {string.Join(" / ", rest)}";
    }
}
