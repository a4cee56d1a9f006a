using Ambrosia.Protocol;

namespace Ambrosia.Images.Json;

/// <summary>Says where an image is from.</summary>
/// <param name="Checkpoint">The name of the checkpoint that holds it; null: it was made for somebody who looks at the past.</param>
/// <param name="Place">Everything before it is in the state.</param>
public readonly record struct ImageOrigin(string? Checkpoint, MessagePlace Place)
{
    /// <summary>Says that a checkpoint holds it, which covers everything below a position.</summary>
    public static ImageOrigin Of(string checkpoint, Lsn lsn) => new(checkpoint, new MessagePlace(lsn, 0));

    internal void Write(JsonOutput to)
    {
        if (Checkpoint is not null) to.To.WriteString("checkpoint", Checkpoint);
        to.To.WriteNumber("lsn", Place.Record.Value);
        if (Checkpoint is null) to.To.WriteNumber("index", Place.Index);
    }
}
