using Ambrosia.Inspection.States;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.Cuts;

/// <summary>Holds what a build does with a cut against what was done then.</summary>
internal static class CutComparison
{
    private const int ReadBytes = 1 << 20;

    /// <summary>Returns what differs, in lines: the calls of the message, sums of all that was emitted, and the state by path.</summary>
    /// <param name="state">The image behind the message, as the build has it now.</param>
    /// <exception cref="LogDamage">The image of then is not the one that was described.</exception>
    public static IReadOnlyList<string> Lines(Cut cut, CutOutcome then, CutOutcome now, LargeBuffer state)
    {
        var lines = new List<string>();
        for (int i = 0; i < Math.Max(then.Calls.Count, now.Calls.Count); i++)
        {
            string before = then.Calls.ElementAtOrDefault(i) ?? "nothing", after = now.Calls.ElementAtOrDefault(i) ?? "nothing";
            if (before != after) lines.Add($"then {before}, now {after}");
        }
        foreach (string to in then.Emitted.Keys.Union(now.Emitted.Keys).Order(StringComparer.Ordinal))
            if (Difference(then.Emitted.GetValueOrDefault(to), now.Emitted.GetValueOrDefault(to)) is { } difference)
                lines.Add($"{(to.Length == 0 ? "callers outside" : to)}: {difference}");
        if (then.State == now.State) return lines;
        using LargeBuffer image = ReadImage(cut, then);
        lines.AddRange(StateLines.Of(image, state));
        return lines;
    }

    private static string? Difference(EmittedSum? then, EmittedSum? now)
    {
        if (then == now) return null;
        ulong before = then?.Count ?? 0, after = now?.Count ?? 0;
        return before == after ? $"{before} messages from the beginning on, and not the same"
            : $"{before} messages from the beginning on then, {after} now";
    }

    private static LargeBuffer ReadImage(Cut cut, CutOutcome then)
    {
        string path = Path.Combine(cut.Directory, Cut.ImageName);
        using FileStream file = File.OpenRead(path);
        var image = new LargeBuffer();
        byte[] buffer = new byte[ReadBytes];
        ulong hash = 0;
        for (int count; (count = file.Read(buffer)) > 0;)
        {
            image.Append(buffer.AsSpan(0, count));
            hash = ChannelHash.Append(hash, buffer.AsSpan(0, count));
        }
        if ($"{hash:x16}" == then.State) return image;
        image.Dispose();
        throw new LogDamage(path, 0, null, $"an image whose hash is {then.State}", $"{hash:x16}");
    }
}
