namespace CRA;

/// <summary>What the receiving pump does after a feed.</summary>
public enum FeedAnswer
{
    /// <summary>Receive more.</summary>
    Continue,

    /// <summary>The log is full: wait for room, then feed the rest again before anything is received.</summary>
    NoRoom,

    /// <summary>Close the connection after what is queued for it (a Goodbye) has been sent. Nothing more is fed.</summary>
    Close,
}
