namespace Ambrosia;

/// <summary>Done when all its parts are: their values in order, or the failure of the first part (in order) that failed.</summary>
internal sealed class JoinAll<T> : Source<T[]>
{
    private readonly Source<T>[] parts;

    /// <summary>Parts that are not done yet; each resumes this object once.</summary>
    private int left;

    internal JoinAll(Source<T>[] parts)
    {
        this.parts = parts;
        foreach (Source<T> part in parts)
        {
            if (part.IsDone) continue;
            part.AwaitedBy(this);
            left++;
        }
        if (left == 0) CompleteFromParts();
    }

    internal override void Resume()
    {
        if (--left == 0) CompleteFromParts();
    }

    private void CompleteFromParts()
    {
        var values = new T[parts.Length];
        for (int i = 0; i < parts.Length; i++)
        {
            if (parts[i].Error is { } failure)
            {
                Fail(failure);
                return;
            }
            values[i] = parts[i].Take();
        }
        Complete(values);
    }
}
