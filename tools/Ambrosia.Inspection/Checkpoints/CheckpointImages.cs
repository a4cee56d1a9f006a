using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.Checkpoints;

/// <summary>Takes images out of checkpoints.</summary>
internal static class CheckpointImages
{
    /// <summary>Returns the whole image; whoever takes it disposes of it.</summary>
    /// <exception cref="Log.Format.LogDamage">The checkpoint is damaged.</exception>
    public static LargeBuffer Read(CheckpointReader checkpoint)
    {
        var image = new LargeBuffer();
        while (checkpoint.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
            if (section == CheckpointSection.Image) image.Append(content);
        return image;
    }
}
