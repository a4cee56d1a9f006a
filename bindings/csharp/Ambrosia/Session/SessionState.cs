namespace Ambrosia;

/// <summary>Where a session's conversation with its coordinator is.</summary>
public enum SessionState
{
    /// <summary>AppHello is said; Welcome is awaited.</summary>
    AwaitingWelcome,

    /// <summary>Welcome announced an image.</summary>
    AwaitingImage,

    /// <summary>Chunks of the image arrive.</summary>
    ReceivingImage,

    /// <summary>Records are executed.</summary>
    Running,

    /// <summary>Nothing is fed or sent any more; see <see cref="ImmortalSession.End"/>.</summary>
    Ended,
}
