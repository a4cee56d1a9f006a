using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Session;

/// <summary>
/// Executes the records of a view (protocol P5.24): it stops before the place that was asked for, also between two messages of a run, and
/// goes on when it is told to. It owns what is left of the frame in which it has stopped. Thread: the scheduler's. Invariant: everything
/// before <see cref="Place"/> is executed, and it is not.
/// </summary>
/// <param name="time">Says how long handlers take; null: nobody is told.</param>
internal sealed class ViewExecutor(RecordExecutor records, TimeProvider? time)
{
    private DeliverHeader _header;

    /// <summary>The frame that is executed, and where its next record begins; null: none is left.</summary>
    private (ReadOnlyMemory<byte> Payload, int At)? _frame;

    /// <summary>The frame's time is in force, and its mark is watched.</summary>
    private bool _hasBegun;

    /// <summary>The record that comes next, and the message in it.</summary>
    private Lsn _record;
    private uint _index;

    /// <summary>The stop that was asked for; null: it executes whatever it is given.</summary>
    private Look? _look;

    /// <summary>A message was executed since the next one was asked for.</summary>
    private bool _hasPassed;

    private bool _hasState;

    /// <summary>Measures what is executed since the last stop; null: nobody has asked for it.</summary>
    private HandlerTimer? _times;

    /// <summary>It executes nothing until it is told to go on.</summary>
    internal bool IsStopped { get; private set; }

    /// <summary>It has stopped at a place where a debugger that is attached is to break, and has not yet.</summary>
    internal bool BreaksHere => IsStopped && _look is { } look && look.Flags.HasFlag(LookFlags.Break) && IsDue();

    private MessagePlace Place => _frame is null ? new MessagePlace(records.Progress.Executed, 0) : new MessagePlace(_record, _index);

    internal void Deliver(ReadOnlyMemory<byte> payload)
    {
        if (IsStopped) throw new ProtocolViolation("P5.24", $"records from {DeliverHeader.Read(payload.Span).First} for an app that has stopped at {Place}");
        _header = DeliverHeader.Read(payload.Span);
        _frame = (payload, DeliverHeader.Bytes);
        (_record, _index, _hasBegun) = (_header.First, 0, false);
        Run();
        if (_frame is { } rest) _frame = (rest.Payload[rest.At..].ToArray(), 0); // the bytes are the pump's, and used again
    }

    /// <summary>Takes the place to stop at: at once where it stands there, or beyond.</summary>
    internal void Take(Look look)
    {
        (_look, _hasPassed) = (look, false);
        _times = time is null || !look.Flags.HasFlag(LookFlags.Times) ? null : _times ?? new HandlerTimer(time);
        if (_hasState && IsDue()) Stop();
    }

    /// <summary>The state is there that the session begins with, so that it may stop.</summary>
    internal void Begin()
    {
        _hasState = true;
        if (IsDue()) Stop();
    }

    /// <summary>It goes on.</summary>
    internal void Go()
    {
        if (!IsStopped) throw new ProtocolViolation("P5.24", "an app that has not stopped is to go on");
        IsStopped = false;
        Run();
    }

    /// <summary>
    /// A debugger has broken here, and its user goes on. Whoever looks says what comes: the next message, or what was asked for meanwhile.
    /// </summary>
    internal void GoBehindBreak()
    {
        _look = _look!.Value with { Flags = _look.Value.Flags & ~LookFlags.Break };
        records.Runtime.Outbound.Write(new Seen(Place) { GoesOn = true });
    }

    private void Run()
    {
        while (_frame is { } frame && !IsStopped)
        {
            if (frame.At == frame.Payload.Length) EndFrame();
            if (IsDue()) Stop();
            else if (_frame is not null) Step(frame.Payload, frame.At);
        }
    }

    private void EndFrame()
    {
        if (!_hasBegun) records.BeginFrame(_header);
        records.Progress.EndFrame();
        _frame = null;
    }

    private bool IsDue()
    {
        if (_look is not { } look) return false;
        if (!look.Flags.HasFlag(LookFlags.Next)) return Place.CompareTo(look.Place) >= 0;
        return _hasPassed && _frame is { } frame && IsExecuted(new RecordReader(frame.Payload.Span[frame.At..], _record));
    }

    /// <summary>Says whether the app itself does anything in the next record.</summary>
    private static bool IsExecuted(RecordReader records) => records.Next() && records.Kind is RecordKind.Run or RecordKind.ImpulseRun
        or RecordKind.ClientRequest or RecordKind.FirstStart or RecordKind.Quarantine or RecordKind.TimerFired or RecordKind.NondetResult
        or RecordKind.Forget or RecordKind.Upgrade;

    private void Stop()
    {
        IsStopped = true;
        records.Runtime.Outbound.Write(new Seen(Place) { Times = _times?.Take() ?? [] });
        if (_look!.Value.Flags.HasFlag(LookFlags.Image)) records.ShowImage();
    }

    /// <summary>Executes the next record, or of a run the messages up to the place.</summary>
    private void Step(ReadOnlyMemory<byte> payload, int at)
    {
        if (!_hasBegun) records.BeginFrame(_header);
        _hasBegun = true;
        var reader = new RecordReader(payload.Span[at..], _record);
        reader.Next();
        bool isExecuted = IsExecuted(new RecordReader(payload.Span[at..], _record));
        _hasPassed |= isExecuted;
        if (reader.Kind is RecordKind.Run or RecordKind.ImpulseRun)
        {
            RunView run = reader.ReadRun();
            uint end = EndIn(run.Header.Count);
            bool isWhole = _index == 0 && end == run.Header.Count;
            Execute(isWhole ? run : run.Part(_index, end));
            if (end < run.Header.Count)
            {
                _index = end;
                return;
            }
            records.End(reader.End);
        }
        else
        {
            HandlerTimer? times = isExecuted ? _times : null;
            uint method = times is not null && reader.Kind == RecordKind.ClientRequest ? reader.ReadClientRequest().ReadMessage().Method : 0;
            times?.Begin();
            records.Execute(ref reader, _header.TimeUs);
            times?.End(method, 1);
        }
        _frame = (payload, at + RecordHeader.Bytes + reader.Body.Length);
        (_record, _index) = (reader.End, 0);
    }

    private void Execute(RunView run)
    {
        if (_times is not { } times)
        {
            records.Execute(run, _record);
            return;
        }
        bool isHandled = run.Header.Kind is MessageKind.Fork or MessageKind.Call or MessageKind.Impulse;
        for (RunView rest = run; rest.First < rest.End;)
        {
            uint method = 0;
            RunView part = isHandled ? rest.FirstOfOneMethod(out method, out rest) : rest;
            times.Begin();
            records.Execute(part, _record);
            times.End(method, part.End - part.First);
            if (!isHandled) return;
        }
    }

    /// <summary>Returns the message of the next record, a run of so many, behind the last that is to be executed at once.</summary>
    private uint EndIn(uint count)
    {
        if (_look is not { } look) return count;
        if (look.Flags.HasFlag(LookFlags.Next)) return Math.Min(_index + 1, count);
        return look.Place.Record == _record && look.Place.Index < count ? look.Place.Index : count;
    }
}
