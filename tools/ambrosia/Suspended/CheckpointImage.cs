using System.Buffers;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// The part of an app's image that says which methods it depends on; it stands in front, so that the rest need not be held.
/// </summary>
internal static class CheckpointImage
{
    /// <summary>Of version and bodies on, in the image of the C# binding.</summary>
    private const int ItemsMin = 2;

    /// <exception cref="ToolMisuse">It is no image of the C# binding.</exception>
    public static IReadOnlyList<string> Refusals(CheckpointReader checkpoint, BuildBodies builds, bool acceptSource)
    {
        var front = new ArrayBufferWriter<byte>();
        while (checkpoint.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section != CheckpointSection.Image) continue;
            front.Write(content);
            if (TryRead(front.WrittenSpan, builds, acceptSource) is { } refusals) return refusals;
        }
        throw new ToolMisuse("the checkpoint holds no image of a C# app", "its binding keeps suspended calls in another form",
            "ask with the tools of its language");
    }

    /// <summary>Null: more of the image is needed.</summary>
    private static List<string>? TryRead(ReadOnlySpan<byte> image, BuildBodies builds, bool acceptSource)
    {
        try
        {
            var from = new CborReader(image);
            if (from.ReadArrayHeader() < ItemsMin) return null;
            from.ReadUInt32();
            return BodyCheck.Refusals(ref from, builds.Of, acceptSource);
        }
        catch (CborException e) when (e.Error == CborError.Truncated)
        {
            return null;
        }
        catch (CborException e)
        {
            throw new ToolMisuse("the checkpoint holds no image of a C# app", e.Message, "ask with the tools of its language");
        }
    }
}
