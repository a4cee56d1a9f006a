using System.Buffers.Binary;
using System.Text;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Masking;

/// <summary>
/// Blanks what a checkpoint keeps of calls that were not received yet: a view sends none of them. Number, method and length of each stay,
/// and the hashes of the channels are made anew, from nothing. One thread.
/// </summary>
internal sealed class OutboxMasking : IDisposable
{
    private readonly LargeBuffer _section = new();
    private readonly Dictionary<InstanceId, ChannelHasher> _channels = [];

    /// <param name="from">The checkpoint; it is read from its beginning.</param>
    /// <param name="part">The coordinator's part of it.</param>
    public OutboxMasking(CheckpointReader from, CoordinatorPart part)
    {
        foreach (CheckpointOutput output in part.Outputs) _channels[output.Destination] = new ChannelHasher(0, output.TrimmedLastKind);
        from.Rewind();
        while (from.Read(out CheckpointSection section, out ReadOnlySpan<byte> content) && section == CheckpointSection.Outbox)
            _section.Append(content);
        for (long at = 0; at < _section.Length;) at += Blank(at);
        Part = part with
        {
            Inputs = [.. part.Inputs.Select(static input => input with { Hash = 0 })],
            Outputs = [.. part.Outputs.Select(Anew)],
            Answers = part.Answers with { Hash = 0 },
        };
    }

    /// <summary>The coordinator's part with the hashes of what is blank.</summary>
    public CoordinatorPart Part { get; }

    /// <summary>Writes the section.</summary>
    public void Write(CheckpointWriter to)
    {
        for (long at = 0; at < _section.Length;)
        {
            ReadOnlySpan<byte> piece = _section.From(at);
            to.Write(CheckpointSection.Outbox, piece);
            at += piece.Length;
        }
    }

    public void Dispose() => _section.Dispose();

    private CheckpointOutput Anew(CheckpointOutput output) => output with { Hash = _channels[output.Destination].Hash, TrimmedHash = 0 };

    /// <summary>Blanks one run, and returns its length with what stands in front (log-format L6.3).</summary>
    private long Blank(long at)
    {
        var front = PayloadReader.OfFile(_section.From(at), "L6.3");
        int runBytes = checked((int)front.U32());
        ushort shard = front.U16();
        var to = new InstanceId(front.Name(), shard);
        Span<byte> run = _section.Writable(at + front.Position, runBytes);
        RunView view = RunView.Read(run);
        Span<byte> messages = run[(RunHeader.Bytes + view.Extensions.Length)..];
        RecordMasking.BlankStacks(run.Slice(RunHeader.Bytes, view.Extensions.Length));
        var blank = new MessageReader(view);
        while (blank.Next())
            if (blank.Arguments.Length > 0 && messages.Overlaps(blank.Arguments, out int start))
                messages.Slice(start, blank.Arguments.Length).Clear();
        ChannelHasher channel = _channels.GetValueOrDefault(to);
        channel.Append(view.Header.Kind, messages);
        _channels[to] = channel;
        (view.Header with { Hash = channel.Hash }).Write(run);
        return front.Position + runBytes;
    }
}
