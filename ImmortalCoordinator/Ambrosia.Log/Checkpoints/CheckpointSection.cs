namespace Ambrosia.Log;

/// <summary>Sections of a checkpoint file, in their order (log-format L6).</summary>
public enum CheckpointSection : byte
{
    Header = 1,
    Coordinator = 2,
    Outbox = 3,
    Image = 4,
    Trailer = 5,
}
