using System.Buffers;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using CRA.Streams;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// Writes what one session's caller is told. It owns the frames under way, and how far the caller knows what is logged. Invariant: in front
/// of answers stands the position that they rest on. The session's lock guards it, but for <see cref="Sent"/>, which is the out thread's.
/// </summary>
/// <param name="shared">The bound over the answers that wait for all callers, beyond what each has of its own.</param>
internal sealed class ClientOutput(uint seed, IClientReplica replica, SharedBytes shared)
{
    /// <summary>The bytes of answers that may wait for one session, however many wait for others.</summary>
    private const int OwnBytesMax = 1 << 20;

    /// <summary>The bytes of answers that may wait for one session; a caller that lets more wait does not read.</summary>
    private const int WaitingBytesMax = 16 << 20;

    private readonly FrameQueue _frames = new(seed, checkPayload: true);
    private int _bytesLeft, _answersTaken, _answersWaiting;

    /// <summary>The bytes that this session has taken of what all share. It gives them back when what waits is taken.</summary>
    private long _sharedBytes;

    /// <summary>The last message that was told as logged, and the position that went with it.</summary>
    private (ulong Number, Lsn Position) _logged;

    /// <summary>The longest answer that the caller takes, as its hello says.</summary>
    public uint AnswerBytesMax { get; set; }

    public ReadOnlyMemory<byte> Heartbeat { get; } = LinkFrames.Heartbeat(seed);

    /// <summary>Something waits to be sent, or is being sent.</summary>
    public bool IsUnsent => _frames.Waiting > 0 || Volatile.Read(ref _bytesLeft) > 0;

    public void Write<T>(T frame) where T : IFramePayload<T> => _frames.Write(frame);

    /// <summary>Writes answers to requests; returns why the caller does not take them, or null.</summary>
    public string? WriteAnswers(byte[] answers, ClientRequests requests)
    {
        // made under an earlier limit, and kept for its key
        if (answers.Length > AnswerBytesMax && MessageScanner.Longest(answers.AsSpan(RunHeader.Bytes)) > AnswerBytesMax)
            return $"an answer is longer than the {AnswerBytesMax} bytes that it takes (P10.6)";
        if (WhatFills() is { } full) return $"{full} (P10.6)";
        WriteLogged(requests);
        _frames.Write(FrameType.Run, answers);
        _answersWaiting++;
        return null;
    }

    /// <summary>Returns why nothing more may wait for this session, or null.</summary>
    private string? WhatFills()
    {
        if (_frames.Waiting <= OwnBytesMax) return null;
        if (_frames.Waiting > WaitingBytesMax) return "it does not take its answers";
        if (!shared.TryChange(_sharedBytes, _frames.Waiting))
            return $"it does not take its answers as fast as they come, and {shared.Held} bytes of answers wait for all callers; {shared.BytesMax} is the bound";
        _sharedBytes = _frames.Waiting;
        return null;
    }

    /// <summary>What waited is taken, or the session has ended and gives it up.</summary>
    public void GiveBack()
    {
        if (_sharedBytes == 0) return;
        shared.TryChange(_sharedBytes, 0);
        _sharedBytes = 0;
    }

    /// <summary>Writes the answer to a query; returns why the caller does not take it, or null.</summary>
    public string? WriteAnswer(in QueryAnswerFrame answer)
    {
        if (answer.Answer.Length > AnswerBytesMax) return $"an answer is longer than the {AnswerBytesMax} bytes that it takes (P10.9)";
        if (WhatFills() is { } full) return $"{full} (P10.9)";
        var payload = new ArrayBufferWriter<byte>(QueryAnswerFrame.HeadBytes + answer.Answer.Length);
        answer.Write(payload);
        _frames.Write(FrameType.QueryAnswer, payload.WrittenSpan);
        return null;
    }

    /// <summary>
    /// Tells the caller how far its requests are logged and the app was given the log, unless it was told: it may ask any replica for a
    /// state that holds what the answers behind say.
    /// </summary>
    public void WriteLogged(ClientRequests requests)
    {
        if (!requests.TryTakeLogged(out ulong number, out Lsn end)) number = _logged.Number;
        Lsn position = Lsn.Max(replica.DeliveredTo, end);
        if (number == _logged.Number && position <= _logged.Position) return;
        _logged = (number, Lsn.Max(position, _logged.Position));
        Crash.Hit("client.beforeLogged");
        _frames.Write(new ClientLogged(_logged.Number, _logged.Position));
    }

    /// <summary>Takes all frames that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        if (!_frames.TryTake(out bytes)) return false;
        GiveBack();
        (_answersTaken, _answersWaiting) = (_answersWaiting, 0);
        if (_answersTaken > 0) Crash.Hit("client.beforeAnswer");
        _bytesLeft = bytes.Length;
        return true;
    }

    /// <summary>So many of the bytes that were taken have been sent.</summary>
    public void Sent(int bytes)
    {
        Volatile.Write(ref _bytesLeft, _bytesLeft - bytes);
        if (_bytesLeft == 0 && _answersTaken > 0) Crash.Hit("client.afterAnswer");
    }
}
