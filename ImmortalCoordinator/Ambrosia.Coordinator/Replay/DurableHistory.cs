using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Remembers when the log was durable up to where, so that the age of the oldest record that is not executed can be told. It has a bounded
/// number of places: when they are used up, every other one is forgotten, and further ones are noted half as often, so that an age is at
/// most a sixteenth too low. One thread notes; any thread asks.
/// </summary>
internal sealed class DurableHistory
{
    internal const int PlacesMax = 64;

    private static readonly TimeSpan s_finest = TimeSpan.FromMilliseconds(250);

    /// <summary>The places that are not executed, oldest first: everything below was durable by then. Replaced as a whole.</summary>
    private volatile (Lsn Durable, TimeSpan At)[] _places = [];
    private TimeSpan _spacing = s_finest, _now;

    /// <summary>Notes how far the log is durable, and forgets what is executed.</summary>
    /// <param name="now">Monotonic.</param>
    public void Note(Lsn durable, Lsn executed, TimeSpan now)
    {
        _now = now;
        List<(Lsn Durable, TimeSpan At)> places = [.. _places.Where(place => place.Durable > executed)];
        if (places.Count == 0) _spacing = s_finest;
        if (durable > executed && (places.Count == 0 || (durable > places[^1].Durable && now - places[^1].At >= _spacing)))
            places.Add((durable, now));
        if (places.Count > PlacesMax)
        {
            // The first stays, since the age counts from it.
            places = [.. places.Where(static (_, i) => i % 2 == 0)];
            _spacing *= 2;
        }
        _places = [.. places];
    }

    /// <summary>How long the oldest record that is not executed has been durable, at least; zero: all is executed.</summary>
    public TimeSpan AgeAt(Lsn executed)
    {
        foreach ((Lsn durable, TimeSpan at) in _places)
            if (durable > executed) return _now - at;
        return TimeSpan.Zero;
    }
}
