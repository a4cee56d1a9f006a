using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Reads a trace of a coordinator (strace -f -yy -xx). A commit is, on one thread: pages written to the log, a flush of it that succeeded,
/// a look at the fence that found it. Every acknowledgement of more than the one before needs one more commit before it.
/// </summary>
internal sealed partial class TraceJudge
{
    private enum Step { Idle, Written, Flushed }

    private readonly Dictionary<string, Step> _steps = [];
    private readonly Dictionary<string, string> _begun = [];
    private ulong _acknowledged;

    public TraceJudge(IEnumerable<string> lines)
    {
        foreach (string line in lines) Take(line);
    }

    public int Commits { get; private set; }

    /// <summary>Acknowledgements that say more than the one before.</summary>
    public int Acknowledgements { get; private set; }

    /// <summary>Lines with an acknowledgement for which there was no commit yet.</summary>
    public List<string> Unfounded { get; } = [];

    private void Take(string line)
    {
        string thread = line.Split(' ', 2)[0];
        string call = line[thread.Length..].TrimStart();
        if (call.StartsWith("sendto(", StringComparison.Ordinal)) TakeSend(line); // when it begins: that is when it may be seen
        if (call.EndsWith("<unfinished ...>", StringComparison.Ordinal))
        {
            _begun[thread] = call[..^"<unfinished ...>".Length];
            return;
        }
        if (Resumed().Match(call) is { Success: true } resumed && _begun.Remove(thread, out string? beginning))
            call = beginning + call[resumed.Length..];
        TakeEnded(thread, call);
    }

    private void TakeEnded(string thread, string call)
    {
        Step step = _steps.GetValueOrDefault(thread);
        if (call.StartsWith("pwrite64(", StringComparison.Ordinal) && IsLog(call) && Strings(call) is [_, [0x41, 0x50, 0x47, 0x31, ..], ..])
            _steps[thread] = Step.Written;
        else if (call.StartsWith("fdatasync(", StringComparison.Ordinal) && IsLog(call) && Succeeded(call) && step == Step.Written)
            _steps[thread] = Step.Flushed;
        else if (call.StartsWith("statx(", StringComparison.Ordinal) && Succeeded(call) && step == Step.Flushed
            && Encoding.UTF8.GetString(Bytes(call)).Contains("/epoch.", StringComparison.Ordinal))
        {
            _steps[thread] = Step.Idle;
            Commits++;
        }
    }

    private static bool Succeeded(string call) => call.EndsWith(" = 0", StringComparison.Ordinal);

    private static bool IsLog(string call) =>
        Strings(call) is [var path, ..] && Encoding.UTF8.GetString(path).Contains("/log.", StringComparison.Ordinal);

    private void TakeSend(string line)
    {
        if (!line.Contains("<TCP:", StringComparison.Ordinal) || Strings(line) is not [.., var sent]) return;
        foreach (ulong number in Acks(sent))
        {
            if (number <= _acknowledged) continue;
            _acknowledged = number;
            if (++Acknowledgements > Commits) Unfounded.Add(line);
        }
    }

    /// <summary>What the whole Ack frames in these bytes acknowledge. Authentication, which precedes the frames, is none.</summary>
    private static IEnumerable<ulong> Acks(byte[] sent)
    {
        for (int at = 0; at + FrameHeader.Bytes + 8 <= sent.Length;)
        {
            uint length = BinaryPrimitives.ReadUInt32LittleEndian(sent.AsSpan(at));
            if (length > LinkFrameBytesMax) yield break;
            if (sent[at + 4] == (byte)FrameType.Ack && length == AckBytes)
                yield return BinaryPrimitives.ReadUInt64LittleEndian(sent.AsSpan(at + FrameHeader.Bytes));
            at += FrameHeader.Bytes + (int)length;
        }
    }

    private const int AckBytes = 24, LinkFrameBytesMax = 1 << 26;

    /// <summary>The call's strings in hexadecimal form: a descriptor's path, and what is written or looked up.</summary>
    private static List<byte[]> Strings(string call) => [.. HexString().Matches(call).Select(static match => FromHex(match.Value))];

    private static byte[] Bytes(string call) => [.. Strings(call).SelectMany(static s => s)];

    private static byte[] FromHex(string text)
    {
        byte[] bytes = new byte[text.Length / 4];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = byte.Parse(text.AsSpan(4 * i + 2, 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        return bytes;
    }

    [GeneratedRegex(@"(?:\\x[0-9a-f]{2})+")]
    private static partial Regex HexString();

    [GeneratedRegex(@"^<\.\.\. \w+ resumed>")]
    private static partial Regex Resumed();
}
