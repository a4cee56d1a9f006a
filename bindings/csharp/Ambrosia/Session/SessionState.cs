namespace Ambrosia;

/// <summary>Says how far the exchange of a session with its coordinator has come.</summary>
public enum SessionState
{
    /// <summary>The output begins with AppHello, and Welcome is awaited.</summary>
    AwaitingWelcome,

    /// <summary>The Welcome announced an image, whose beginning is awaited.</summary>
    AwaitingImage,

    /// <summary>The chunks of the image arrive.</summary>
    ReceivingImage,

    /// <summary>Records are executed.</summary>
    Running,

    /// <summary>Nothing is fed or sent any more; see <see cref="ImmortalSession.End"/>.</summary>
    Ended,
}
