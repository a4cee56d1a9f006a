namespace HelloWorld.Orchestration;

/// <summary>
/// The questions that a run asks its two apps, and their answers. Apps that replay their log answer the questions of old again, so each
/// question has a name of its own: the run's and a number.
/// </summary>
internal sealed class Questions(string run)
{
    /// <summary>The newest answers; null before the first.</summary>
    public ClientReport? Client { get; private set; }

    public ServerReport? Server { get; private set; }

    /// <summary>Number of the last question asked.</summary>
    public int Asked { get; private set; }

    /// <summary>Numbers of the newest questions that were answered.</summary>
    public int ClientAnswered { get; private set; }

    public int ServerAnswered { get; private set; }

    /// <summary>The highest number of applied calls that the server ever stated: what it has once said stays true.</summary>
    public long Applied { get; private set; }

    /// <summary>Both sides have answered a question behind number <paramref name="asked"/>.</summary>
    public bool BothAnsweredAfter(int asked) => ClientAnswered > asked && ServerAnswered > asked;

    public string Next() => $"report {run}.{++Asked}";

    /// <summary>A line that an app printed.</summary>
    public void Take(string line)
    {
        if (ClientReport.TryParse(line) is { } client && NumberOf(client.Question) is { } toClient && toClient > ClientAnswered)
            (Client, ClientAnswered) = (client, toClient);
        if (ServerReport.TryParse(line) is { } server && NumberOf(server.Question) is { } toServer && toServer > ServerAnswered)
        {
            (Server, ServerAnswered) = (server, toServer);
            Applied = Math.Max(Applied, server.Applied);
        }
    }

    /// <summary>Null: a question of another run.</summary>
    private int? NumberOf(string question) =>
        question.StartsWith(run + ".", StringComparison.Ordinal) && int.TryParse(question.AsSpan(run.Length + 1), out int number)
        ? number : null;
}
