using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Holds the replay of an app that has died alone against what the apps before it have emitted in this process: at the last place up to
/// which that is known exactly, and before anything new leaves. Without it, a call that the replay adds to the end of a channel would be
/// sent, since outboxes compare no further than they reach. Places move with reports, so nothing is noted for each message. Invariant:
/// while the place is awaited, it is that of an earlier session, and so are the notes of all outboxes. The thread that reads the app.
/// </summary>
internal sealed class FormerOutputs(OutboxSet outboxes)
{
    /// <summary>The running session has emitted to these since the place was noted last.</summary>
    private readonly List<Outbox> _unnoted = [];

    /// <summary>The answers to callers outside up to the place, and all that a session has given.</summary>
    private AnswerDigest _answers, _answersMade;

    /// <summary>The sessions of this process have emitted what is noted by here; null: none has.</summary>
    private Lsn? _place;

    /// <summary>The running session's app must report at this place: it replays what was executed below it; null: it is beyond.</summary>
    public Lsn? Awaited { get; private set; }

    /// <summary>The outboxes are those of a checkpoint, and hold nothing of a session before.</summary>
    public void Clear()
    {
        Leave();
        (_place, _answers, _answersMade) = (null, default, default);
    }

    /// <summary>A session begins with what the outboxes say.</summary>
    /// <param name="made">The answers that the session before has given, and those of its checkpoint.</param>
    /// <param name="restored">The answers of the checkpoint with which this one begins.</param>
    public void BeginSession(Lsn from, AnswerDigest made, AnswerDigest restored)
    {
        Leave();
        if (_place is not null && made.Count > _answersMade.Count) _answersMade = made;
        if (_place is { } place && place > from)
        {
            Awaited = place;
            return;
        }
        (_place, _answers) = (from, restored);
        NoteAll();
    }

    /// <summary>The app emits to this outbox, or the log forgets its receiver where the app stands, and nothing is awaited.</summary>
    public void Touch(Outbox outbox)
    {
        if (outbox.IsUnnoted) return;
        outbox.IsUnnoted = true;
        _unnoted.Add(outbox);
    }

    /// <inheritdoc cref="Outbox.RequireKnown"/>
    public void RequireKnown(Outbox outbox, uint count) => outbox.RequireKnown(count, Awaited!.Value);

    /// <summary>The app has reported a place at which each later session's app reports, too, if it is asked to.</summary>
    /// <exception cref="DivergenceException">It has emitted otherwise by there than the app of an earlier session.</exception>
    public void Reported(Lsn place, AnswerDigest answers)
    {
        if (Awaited is { } awaited)
        {
            if (place < awaited) return;
            if (place == awaited) Compare(place, answers);
            else NoteAll(); // the frame had another mark: nothing tells what was emitted up to there
            Awaited = null;
        }
        (_place, _answers) = (place, answers);
        foreach (Outbox outbox in _unnoted)
        {
            outbox.Note();
            outbox.IsUnnoted = false;
        }
        _unnoted.Clear();
    }

    /// <summary>The app has executed all that was durable when its session began: every session before it is replayed.</summary>
    /// <exception cref="DivergenceException">An earlier one has emitted more, or has answered otherwise.</exception>
    public void RequireAll(AnswerDigest answers)
    {
        foreach (Outbox outbox in outboxes.InOrder()) outbox.RequireReplayed();
        if (answers.Count < _answersMade.Count || (answers.Count == _answersMade.Count && answers != _answersMade))
            throw DivergenceException.OfAnswers(answers, _answersMade);
    }

    private void Compare(Lsn place, AnswerDigest answers)
    {
        foreach (Outbox outbox in outboxes.InOrder()) outbox.RequireAsNoted(place);
        if (answers != _answers) throw DivergenceException.OfAnswers(answers, _answers);
    }

    private void NoteAll()
    {
        foreach (Outbox outbox in outboxes.InOrder()) outbox.Note();
    }

    private void Leave()
    {
        Awaited = null;
        foreach (Outbox outbox in _unnoted) outbox.IsUnnoted = false;
        _unnoted.Clear();
    }
}
