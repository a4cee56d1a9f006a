using Ambrosia.Protocol.Frames;

namespace Ambrosia.Suspension.App;

/// <summary>
/// Restores what <see cref="ShapeWriter"/> wrote: the image must come out again with the same bytes, and the rest of the run must say the
/// same. One line for each image: <c>same</c>, <c>refused</c> with the reasons between bars, or what is wrong. A build that keeps old
/// bodies writes their own names into its images: of those, two replicas must write the same bytes behind every result, one that was there
/// from the beginning and one that begins with the image before. Where a body is kept the line is <c>kept</c>.
/// </summary>
internal sealed class ShapeReader(ImmortalDefinition definition, string directory)
{
    private const string Kept = ", which has ";

    public void ReadAll(bool keepsBodies)
    {
        foreach (string file in Directory.EnumerateFiles(directory, "*.image").Order(StringComparer.Ordinal))
        {
            string name = Path.GetFileNameWithoutExtension(file);
            Console.WriteLine(
                $"{name.Replace('.', ' ')} {Read(Path.Combine(directory, name), name.Contains(ShapeWriter.Orders[1], StringComparison.Ordinal), keepsBodies)}");
        }
    }

    private string Read(string file, bool newest, bool keepsBodies)
    {
        byte[] image = File.ReadAllBytes($"{file}.image");
        string[] pending = File.ReadAllLines($"{file}.pending");
        var rig = new Rig(definition, image, pending.Skip(1), ulong.Parse(pending[0]));
        if (rig.End is { } end)
            return end.Code == GoodbyeCode.Refused
                ? $"refused {string.Join(" | ", rig.Lines.SelectMany(static line => line.Split('\n')))}" : $"ended: {end.Why}";
        byte[]? again = rig.Image();
        if (again is null) return $"cannot be written again: {rig.Void}";
        bool isKept = rig.Lines.Exists(static line => line.Contains(Kept, StringComparison.Ordinal));
        if (!isKept && !image.AsSpan().SequenceEqual(again)) return "its image has other bytes";
        if (keepsBodies)
        {
            File.WriteAllBytes($"{file}.image", again); // for a build that has the old bodies alone
            File.WriteAllLines($"{file}.pending", [$"{rig.Lsn}", .. pending.Skip(1)]);
            if (!ReplicasAgree(rig, newest)) return "two replicas have other images";
        }
        ShapeWriter.Finish(rig, newest);
        string[] rest = File.ReadAllLines($"{file}.rest");
        return rig.Said.SequenceEqual(rest) ? isKept ? "kept" : "same" : $"differs: {string.Join(" / ", rig.Said)} instead of {string.Join(" / ", rest)}";
    }

    private bool ReplicasAgree(Rig rig, bool newest)
    {
        while (rig.Image() is { } image)
        {
            var other = new Rig(definition, image, rig.PendingLines, rig.Lsn);
            if (!image.AsSpan().SequenceEqual(other.Image())) return false;
            if (!rig.IsPending) return true;
            rig.Image(); // as many marks as the other one has had
            rig.Answer(newest);
            other.Answer(newest);
            if (!rig.Image().AsSpan().SequenceEqual(other.Image())) return false;
        }
        return false;
    }
}
