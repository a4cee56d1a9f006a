using Ambrosia.Inspection.Records;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Inspection.Replays;

/// <summary>Adds up how long the builds of a replay execute for each handler. One thread.</summary>
internal sealed class HandlerTimings
{
    private readonly Dictionary<uint, HandlerTiming> _byMethod = [];

    /// <summary>Both, or the one build, have come to the next stop.</summary>
    public void Add(in Stops stops)
    {
        foreach (HandlerTime now in stops.Now.Times)
        {
            HandlerTiming sum = _byMethod.GetValueOrDefault(now.Method);
            _byMethod[now.Method] = sum with { Messages = sum.Messages + now.Messages, Now = sum.Now + Seconds(now) };
        }
        foreach (HandlerTime then in stops.Then?.Times ?? [])
        {
            HandlerTiming sum = _byMethod.GetValueOrDefault(then.Method);
            _byMethod[then.Method] = sum with { Then = (sum.Then ?? 0) + Seconds(then) };
        }
    }

    /// <summary>Returns the sums by the handler's name, the longest first.</summary>
    /// <param name="text">Knows the names; what begins at no handler has the empty one.</param>
    public IReadOnlyList<HandlerTiming> Rows(MessageFormatter text) =>
    [
        .. _byMethod.Select(each => each.Value with { Handler = each.Key == 0 ? "" : $"{text.MethodOf(each.Key)}" })
            .OrderByDescending(static each => each.Now).ThenBy(static each => each.Handler, StringComparer.Ordinal),
    ];

    private static double Seconds(HandlerTime time) => time.Nanoseconds / 1e9;
}

/// <summary>Says how long one handler was executed, in seconds.</summary>
/// <param name="Handler">Its contract and name; empty: results, timers, tasks and all else that a handler does not begin.</param>
/// <param name="Messages">So many messages, or records that hold none.</param>
/// <param name="Now">By the build that is tried.</param>
/// <param name="Then">By the one that it is held against; null: there is none.</param>
internal readonly record struct HandlerTiming(string Handler, ulong Messages, double Now, double? Then);
