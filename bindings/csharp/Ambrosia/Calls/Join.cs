namespace Ambrosia;

/// <summary>Waits until all its parts are done, whatever becomes of them.</summary>
internal abstract class Join<T, TResult> : Source<TResult>
{
    private readonly Source<T>[] parts;

    /// <summary>Parts that are not done yet; each resumes this object once.</summary>
    private int left;

    private protected Join(Source<T>[] parts)
    {
        this.parts = parts;
        foreach (Source<T> part in parts)
        {
            if (part.IsDone) continue;
            part.AwaitedBy(this);
            left++;
        }
        if (left == 0) Conclude();
    }

    internal override void Resume()
    {
        if (--left == 0) Conclude();
    }

    private protected abstract TResult ResultOf(Source<T>[] done);

    /// <summary>The failure of the first part, in their order, that failed; else the result.</summary>
    private void Conclude()
    {
        if (Array.Find(parts, static part => part.Error is not null) is { } failed) Fail(failed.Error!);
        else Complete(ResultOf(parts));
    }
}
