namespace Ambrosia;

/// <summary>Waits until all its parts are done, whatever becomes of them.</summary>
internal abstract class CallJoin<T, TResult> : Source<TResult>
{
    private readonly Source<T>[] _parts;

    /// <summary>The number of parts that are not done yet; each resumes this object once.</summary>
    private int _left;

    private protected CallJoin(Source<T>[] parts)
    {
        _parts = parts;
        foreach (Source<T> part in parts)
        {
            if (part.IsDone) continue;
            part.AwaitedBy(this);
            _left++;
        }
        if (_left == 0) Conclude();
    }

    internal override void Resume()
    {
        if (--_left == 0) Conclude();
    }

    private protected abstract TResult ResultOf(Source<T>[] done);

    /// <summary>Takes the failure of the first part, in their order, that failed; else the result.</summary>
    private void Conclude()
    {
        if (Array.Find(_parts, static part => part.Error is not null) is { } failed) Fail(failed.Error!);
        else Complete(ResultOf(_parts));
    }
}

/// <summary>
/// Joins calls: it is done when all its parts are, with their values in order, or with the failure of the first part (in order) that
/// failed.
/// </summary>
internal sealed class JoinAll<T>(Source<T>[] parts) : CallJoin<T, T[]>(parts)
{
    private protected override T[] ResultOf(Source<T>[] done) => Array.ConvertAll(done, static part => part.Take());
}

/// <summary>Joins calls without results: it is done when all its parts are, or fails like <see cref="JoinAll{T}"/>.</summary>
internal sealed class JoinAll(Source<Nothing>[] parts) : CallJoin<Nothing, Nothing>(parts)
{
    private protected override Nothing ResultOf(Source<Nothing>[] done) => default;
}

/// <summary>
/// Waits for the first of several calls: it is done when one of its parts is, with the first of the calls, in their order, that is done
/// when this is resumed. It then lets go of the others, so that they can be awaited again.
/// </summary>
internal sealed class FirstOf<TCall> : Source<TCall>
{
    /// <summary>The sources that the calls wait for, in their order; empty once this is done.</summary>
    private Source[] _parts;

    /// <summary>The calls, as they were given; empty once this is done.</summary>
    private TCall[] _calls;

    internal FirstOf(Source[] parts, TCall[] calls)
    {
        if (parts.Length == 0) throw new MisusedArgumentException(Misuse.NoCallToAwait);
        _parts = parts;
        _calls = calls;
        if (TryConclude()) return;
        foreach (Source part in parts) part.AwaitedBy(this);
    }

    /// <summary>Resumes it for a part that is done. Several parts may end before: the others find it done.</summary>
    internal override void Resume()
    {
        if (!IsDone && !TryConclude()) throw new InvalidOperationException("A WhenAny was resumed where none of its calls is done.");
    }

    private bool TryConclude()
    {
        int first = Array.FindIndex(_parts, static part => part.IsDone);
        if (first < 0) return false;
        TCall done = _calls[first];
        foreach (Source part in _parts) part.NoLongerAwaitedBy(this);
        (_parts, _calls) = ([], []);
        Complete(done);
        return true;
    }
}
