namespace Ambrosia.Protocol;

/// <summary>Knows the sizes that the protocol allows to messages, runs and frames (protocol P2.3 and P3.5), all in bytes.</summary>
public static class SizeLimits
{
    /// <summary>No control payload is longer than this; before the hello no frame is.</summary>
    public const int ControlBytesMax = 4096;

    /// <summary>A connection's message limit where nothing is configured, and the highest limit that can be configured (P2.3).</summary>
    public const uint MessageBytesMaxDefault = 64 * 1024 * 1024, MessageBytesMaxLimit = 1024 * 1024 * 1024;

    /// <summary>A run with more than one message is at most this long, header included (P3.5).</summary>
    public const int BatchBytesMax = 256 * 1024;

    /// <summary>A frame may carry this much more than the connection's message limit (P2.3), for headers and extension blocks.</summary>
    public const int PayloadBytesBeyondMessage = 65536;

    /// <summary>The headers in front of a run in a Deliver frame: that of the frame's records (P5.4) and that of the record (L5).</summary>
    internal const int DeliverHeaderBytes = 24, RecordHeaderBytes = 8;

    /// <summary>
    /// The longest payload of a frame once the hello is accepted (P2.3). A run of small messages may be longer than the message limit.
    /// </summary>
    public static uint PayloadBytesMax(uint messageBytesMax) => Math.Max(messageBytesMax, BatchBytesMax) + PayloadBytesBeyondMessage;

    /// <summary>The longest run (P3.5): a Deliver frame must be able to hold the record that the run becomes.</summary>
    public static uint RunBytesMax(uint messageBytesMax) => PayloadBytesMax(messageBytesMax) - DeliverHeaderBytes - RecordHeaderBytes;
}
