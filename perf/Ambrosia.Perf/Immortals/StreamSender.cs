// Sends a round as fast as the receiver's coordinator takes it: a handler sends a bounded burst and then calls itself to go on, so that it
// never keeps its own input waiting. Several of these calls to itself are under way at once: each has to be durable in the sender's log
// before it runs, and one alone would measure that wait.
using System.Buffers.Binary;

namespace Ambrosia.Perf;

/// <summary>The sending end of <c>stream</c>. It prints <c>begun ROUND</c> before the round's first message.</summary>
public sealed partial class StreamSender : Immortal<IStreamSenderProxy>, IStreamSender
{
    private const int BurstBytes = 256 * 1024;
    private const int BurstsUnderWay = 4;

    private readonly IStreamReceiverProxy receiver;
    private long messages;
    private long sent;
    private int messageBytes;

    /// <summary>Content that no message depends on but its first 8 bytes.</summary>
    [NotState]
    private byte[]? buffer;

    public StreamSender() => receiver = GetProxy<IStreamReceiver>("receiver");

    public void Stream(int round, long messages, int bytes)
    {
        (this.messages, messageBytes, sent) = (messages, bytes, 0);
        Console.WriteLine($"begun {round}");
        receiver.BeginFork(round, messages);
        for (int i = 0; i < BurstsUnderWay; i++) thisProxy.GoOnFork();
    }

    public void GoOn()
    {
        if (buffer?.Length != messageBytes) buffer = new byte[messageBytes];
        for (int left = Math.Max(1, BurstBytes / messageBytes); left > 0 && sent < messages; left--)
        {
            BinaryPrimitives.WriteInt64LittleEndian(buffer, ++sent);
            receiver.TakeFork(buffer);
        }
        if (sent < messages) thisProxy.GoOnFork();
    }

    protected override void BecomingPrimary()
    {
        IStreamSenderProxy self = thisProxy;
        Driver.Listen(words =>
        {
            if (words is ["stream", string round, string messages, string bytes]) self.StreamFork(int.Parse(round), long.Parse(messages), int.Parse(bytes));
        });
    }
}
