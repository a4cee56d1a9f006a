namespace Ambrosia;

/// <summary>Done when all its parts are: their values in order, or the failure of the first part (in order) that failed.</summary>
internal sealed class JoinAll<T>(Source<T>[] parts) : Join<T, T[]>(parts)
{
    private protected override T[] ResultOf(Source<T>[] done) => Array.ConvertAll(done, static part => part.Take());
}

/// <summary>The same for calls without results.</summary>
internal sealed class JoinAll(Source<Nothing>[] parts) : Join<Nothing, Nothing>(parts)
{
    private protected override Nothing ResultOf(Source<Nothing>[] done) => default;
}
