namespace HelloWorld.Orchestration;

/// <summary>
/// Decides whether every call was applied exactly once and in order. It computes what must have been applied from the orders given, and
/// asks nobody.
/// </summary>
internal sealed record Verdict(IReadOnlyList<string> Faults)
{
    public bool Holds => Faults.Count == 0;

    /// <summary>Compares the reports with what was ordered.</summary>
    /// <param name="calls">The number of calls that were ordered, over all runs on these logs; their numbers are 1, 2, … up to it.</param>
    public static Verdict Of(ClientReport client, ServerReport server, long calls)
    {
        var faults = new List<string>();
        if (client.Wanted != calls) faults.Add($"{calls} calls were ordered, the client knows of {client.Wanted}");
        if (client.Made != calls) faults.Add($"{calls} calls were ordered, the client made {client.Made}");
        if (server.Applied < calls) faults.Add($"{calls - server.Applied} of {calls} calls were lost");
        if (server.Applied > calls) faults.Add($"{server.Applied - calls} calls were applied more than once, or never made");
        if (server.OrderHash != HelloWorld.OrderHash.OfAllUpTo(calls))
            faults.Add(
                $"the calls were not applied in order: their order hash is {server.OrderHash:x16}, that of 1 to {calls} is {HelloWorld.OrderHash.OfAllUpTo(calls):x16}");
        if (client.WrongAnswers != 0) faults.Add($"{client.WrongAnswers} of {client.Answers} awaited answers were not the next number");
        if (server.Asked != client.Answers)
            faults.Add($"the server answered {server.Asked} times, the client got {client.Answers} answers");
        return new Verdict(faults);
    }
}
