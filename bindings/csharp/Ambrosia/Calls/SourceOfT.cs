namespace Ambrosia;

/// <summary>A <see cref="Source"/> of a value.</summary>
internal class Source<T> : Source
{
    private T value = default!;

    internal Source()
    {
    }

    /// <summary>One that is done from the beginning: a part of a join that never suspended.</summary>
    internal Source(T value) => Complete(value);

    internal void Complete(T result)
    {
        if (IsDone) throw new InvalidOperationException("A call was completed twice.");
        value = result;
        Finish();
    }

    /// <summary>The value, or the failure thrown here.</summary>
    internal virtual T Take()
    {
        if (!IsDone) throw new InvalidOperationException("The result of a Call was asked for before it was there: await the Call.");
        if (Error is not null) ThrowError();
        return value;
    }
}
